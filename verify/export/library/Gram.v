(** What a proof object proves, in every inner-product space and for all letters that its domain allows.

    A sum has coefficients, quotients of integer polynomials in letters, before inner products of named vectors, named
    numbers and 1. If a positive multiple of a target is a sum of nonnegative multiples of known sums minus nonnegative
    multiples of squares of combinations of the vectors, then the target is at most 0 wherever all known sums are. Signs
    of polynomials are those of factors that have no negative coefficient once letters are written by slacks. [check]
    computes all that in integers, and [holds] says that it is then so. A file of proofs has to be trusted no further
    than its theorems can be read, which speak of [space] and [inner] alone. *)

From Coq Require Import BinList Reals QArith Qreals ZArith List Bool Lra Lia Ring_polynom RealField.
Import ListNotations.
Local Open Scope R_scope.

(** A real vector space with an inner product that need not be definite: expectations of products are one. *)
Record space := {
  vector :> Type;
  zero : vector;
  plus : vector -> vector -> vector;
  times : R -> vector -> vector;
  inner : vector -> vector -> R;
  inner_sym : forall x y, inner x y = inner y x;
  inner_zero : forall y, inner zero y = 0;
  inner_plus : forall x y z, inner (plus x y) z = inner x z + inner y z;
  inner_times : forall a x y, inner (times a x) y = a * inner x y;
  inner_pos : forall x, 0 <= inner x x }.

Arguments inner {s}.

(** There is one. *)
Definition real_line : space.
Proof.
  refine {| vector := R; zero := 0; plus := Rplus; times := Rmult; inner := Rmult |}; intros; try ring.
  apply Rle_0_sqr.
Defined.

(** * Polynomials in letters *)

(** As they are written, and as they are computed with: those of the library, upon integers. *)
Definition poly := PExpr Z.
Definition value (l : list R) : poly -> R := PEeval 0 1 Rplus Rmult Rminus Ropp IZR N.to_nat pow l.
Definition pol := Pol Z.
Definition add : pol -> pol -> pol := Padd 0%Z Z.add Z.eqb.
Definition mul : pol -> pol -> pol := Pmul 0%Z 1%Z Z.add Z.mul Z.eqb.
Definition opp : pol -> pol := Popp Z.opp.
Definition same : pol -> pol -> bool := Peq Z.eqb.
Definition norm : poly -> pol := norm_aux 0%Z 1%Z Z.add Z.mul Z.sub Z.opp Z.eqb.
Definition phi (l : list R) : pol -> R := Pphi 0 Rplus Rmult IZR l.
Fixpoint power (p : pol) (n : nat) : pol := match n with O => Pc 1%Z | S n => mul p (power p n) end.

Lemma morphism : ring_morph 0 1 Rplus Rmult Rminus Ropp eq 0%Z 1%Z Z.add Z.mul Z.sub Z.opp Z.eqb IZR.
Proof.
  split; auto using plus_IZR, minus_IZR, mult_IZR, opp_IZR.
  intros x y H; apply Z.eqb_eq in H; congruence.
Qed.
Definition extends := Eq_ext Rplus Rmult Ropp.
Definition theory := Rth_ARth (Eqsth R) extends RTheory.

Lemma phi_add : forall l p q, phi l (add p q) = phi l p + phi l q.
Proof. intros; apply (Padd_ok (Eqsth R) extends theory morphism). Qed.
Lemma phi_mul : forall l p q, phi l (mul p q) = phi l p * phi l q.
Proof. intros; apply (Pmul_ok (Eqsth R) extends theory morphism). Qed.
Lemma phi_opp : forall l p, phi l (opp p) = - phi l p.
Proof. intros; apply (Popp_ok (Eqsth R) extends theory morphism). Qed.
Lemma phi_same : forall l p q, same p q = true -> phi l p = phi l q.
Proof. intros l p q H; apply (Peq_ok (Eqsth R) extends morphism _ _ H). Qed.
Lemma phi_norm : forall l p, phi l (norm p) = value l p.
Proof. intros; symmetry; apply (norm_aux_spec (Eqsth R) extends theory morphism R_power_theory). Qed.
Lemma phi_power : forall l p n, phi l (power p n) = phi l p ^ n.
Proof. induction n; cbn [power pow]; [reflexivity|]; rewrite phi_mul, IHn; reflexivity. Qed.

(** The letter at a place, and what of a list is left from there. *)
Definition gen (n : nat) : pol := norm (PEX Z (Pos.of_succ_nat n)).

Lemma skipn_tl : forall n (l : list R), tl (skipn n l) = skipn (S n) l.
Proof. induction n; intros [|x l]; try reflexivity; apply IHn. Qed.

Lemma skipn_hd : forall n (l : list R), hd 0 (skipn n l) = nth n l 0.
Proof. induction n; intros [|x l]; try reflexivity; apply IHn. Qed.

Lemma skipn_jump : forall n j (l : list R), jump j (skipn n l) = skipn (n + Pos.to_nat j) l.
Proof.
  intros n j l; induction j using Pos.peano_ind.
  - cbn [jump]; rewrite skipn_tl; f_equal; lia.
  - rewrite jump_succ; cbn [jump]; rewrite IHj, skipn_tl; f_equal; lia.
Qed.

Lemma phi_gen : forall l n, phi l (gen n) = nth n l 0.
Proof.
  intros l n; unfold gen; rewrite phi_norm; unfold value; cbn [PEeval].
  change l with (tl (0 :: l)) at 1; rewrite nth_jump.
  change (0 :: l) with (skipn 0 (0 :: l)); rewrite skipn_jump, skipn_hd, SuccNat2Pos.id_succ; reflexivity.
Qed.

(** ** Signs by coefficients *)

(** No coefficient is negative; and there is a term of letters that are positive, by their places from [n] on. *)
Fixpoint nonneg (p : pol) : bool :=
  match p with Pc c => (0 <=? c)%Z | Pinj _ q => nonneg q | PX q _ r => nonneg q && nonneg r end.
Fixpoint pos (strict : list bool) (n : nat) (p : pol) : bool :=
  match p with
  | Pc c => (0 <? c)%Z
  | Pinj j q => pos strict (n + Pos.to_nat j) q
  | PX q _ r => (nth n strict false && pos strict n q && nonneg r) || (nonneg q && pos strict (S n) r)
  end.

Definition signed (strict : list bool) (l : list R) : Prop :=
  forall n, 0 <= nth n l 0 /\ (nth n strict false = true -> 0 < nth n l 0).

Lemma pow_pos_nonneg : forall x i, 0 <= x -> 0 <= pow_pos Rmult x i.
Proof. intros x i H; induction i; cbn [pow_pos]; auto using Rmult_le_pos. Qed.
Lemma pow_pos_pos : forall x i, 0 < x -> 0 < pow_pos Rmult x i.
Proof. intros x i H; induction i; cbn [pow_pos]; auto using Rmult_lt_0_compat. Qed.

Lemma nonneg_phi : forall strict l, signed strict l -> forall p n, nonneg p = true -> 0 <= phi (skipn n l) p.
Proof.
  intros strict l Hl; unfold phi; induction p; intros n H; cbn [nonneg Pphi] in *.
  - apply IZR_le, Z.leb_le, H.
  - rewrite skipn_jump; auto.
  - apply andb_prop in H as [H1 H2]; rewrite skipn_hd, skipn_tl.
    apply Rplus_le_le_0_compat; [apply Rmult_le_pos|]; auto; apply pow_pos_nonneg, Hl.
Qed.

Lemma pos_phi : forall strict l, signed strict l -> forall p n, pos strict n p = true -> 0 < phi (skipn n l) p.
Proof.
  intros strict l Hl; unfold phi; induction p; intros n H; cbn [pos Pphi] in *.
  - apply IZR_lt, Z.ltb_lt, H.
  - rewrite skipn_jump; auto.
  - rewrite skipn_hd, skipn_tl; apply orb_prop in H as [H|H]; apply andb_prop in H as [H1 H2].
    + apply andb_prop in H1 as [H0 H1]; apply Rplus_lt_le_0_compat.
      * apply Rmult_lt_0_compat; [auto|apply pow_pos_pos, Hl, H0].
      * apply (nonneg_phi strict l Hl _ (S n) H2).
    + apply Rplus_le_lt_0_compat; [|auto].
      apply Rmult_le_pos; [apply (nonneg_phi strict l Hl _ n H1)|apply pow_pos_nonneg, Hl].
Qed.

(** ** Letters written by slacks *)

Fixpoint set {A} (d : A) (k : nat) (x : A) (l : list A) : list A :=
  match k, l with
  | O, [] => [x]
  | O, _ :: l => x :: l
  | S k, [] => d :: set d k x []
  | S k, y :: l => y :: set d k x l
  end.

Lemma nth_set : forall A (d : A) k x l n, nth n (set d k x l) d = if Nat.eqb n k then x else nth n l d.
Proof.
  intros A d; induction k; intros x [|y l] [|n]; cbn [set nth Nat.eqb]; try reflexivity.
  - destruct n; reflexivity.
  - rewrite IHk; destruct n, k; try reflexivity; destruct (Nat.eqb _ _); reflexivity.
  - apply IHk.
Qed.

(** Whether a letter is missing. *)
Fixpoint without (k n : nat) (p : pol) : bool :=
  match p with
  | Pc _ => true
  | Pinj j q => without k (n + Pos.to_nat j) q
  | PX q _ r => negb (Nat.eqb n k) && without k n q && without k (S n) r
  end.

Lemma without_phi : forall k x l p n, without k n p = true -> phi (skipn n (set 0 k x l)) p = phi (skipn n l) p.
Proof.
  intros k x l; unfold phi; induction p; intros n H; cbn [without Pphi] in *; [reflexivity| |].
  - rewrite !skipn_jump; auto.
  - apply andb_prop in H as [H H2]; apply andb_prop in H as [H0 H1].
    rewrite !skipn_hd, !skipn_tl, IHp1, IHp2, nth_set by assumption.
    destruct (Nat.eqb n k); [discriminate|reflexivity].
Qed.

(** A polynomial with num / den for the letter [k], times the power of den that is told. *)
Section Written.
Variables (k : nat) (num den : pol).

Definition lift (a b : pol * nat) : pol * nat :=
  let (p, i) := a in let (q, j) := b in
  if (i <=? j)%nat then (add (mul p (power den (j - i))) q, j) else (add p (mul q (power den (i - j))), i).

Fixpoint written (n : nat) (p : pol) : pol * nat :=
  match p with
  | Pc _ => (p, O)
  | Pinj j q => written (n + Pos.to_nat j) q
  | PX q i r =>
    let (a, d) := written n q in
    let i := Pos.to_nat i in
    lift (if Nat.eqb n k then (mul a (power num i), (d + i)%nat) else (mul a (power (gen n) i), d)) (written (S n) r)
  end.

Variables (l m : list R).
Hypothesis others : forall n, Nat.eqb n k = false -> nth n m 0 = nth n l 0.
Hypothesis solved : nth k l 0 * phi m den = phi m num.

Lemma lift_phi : forall a b x y, phi m (fst a) = phi m den ^ snd a * x -> phi m (fst b) = phi m den ^ snd b * y ->
  phi m (fst (lift a b)) = phi m den ^ snd (lift a b) * (x + y).
Proof.
  intros [p i] [q j] x y Hp Hq; cbn [fst snd] in *; unfold lift.
  destruct (Nat.leb_spec i j); cbn [fst snd]; rewrite phi_add, phi_mul, phi_power, Hp, Hq.
  - replace (phi m den ^ j) with (phi m den ^ (j - i) * phi m den ^ i) by (rewrite <- pow_add; f_equal; lia); ring.
  - replace (phi m den ^ i) with (phi m den ^ (i - j) * phi m den ^ j) by (rewrite <- pow_add; f_equal; lia); ring.
Qed.

Lemma written_phi : forall p n, phi m (fst (written n p)) = phi m den ^ snd (written n p) * phi (skipn n l) p.
Proof.
  induction p as [c|j p IH|q IHq i r IHr]; intros n; cbn [written].
  - cbn; ring.
  - rewrite IH; unfold phi; cbn [Pphi]; rewrite skipn_jump; reflexivity.
  - specialize (IHq n); destruct (written n q) as [a d]; cbn [fst snd] in IHq.
    change (phi (skipn n l) (PX q i r))
      with (phi (skipn n l) q * pow_pos Rmult (hd 0 (skipn n l)) i + phi (tl (skipn n l)) r).
    rewrite skipn_hd, skipn_tl; apply lift_phi; [|apply IHr].
    replace (pow_pos Rmult (nth n l 0) i) with (nth n l 0 ^ Pos.to_nat i)
      by exact (Ring_theory.rpow_pow_N R_power_theory (nth n l 0) (Npos i)).
    destruct (Nat.eqb n k) eqn:E; cbn [fst snd]; rewrite phi_mul, phi_power, IHq.
    + apply Nat.eqb_eq in E; subst n; rewrite <- solved, Rpow_mult_distr, pow_add; ring.
    + rewrite phi_gen, others by exact E; ring.
Qed.
End Written.

(** One letter from the constraint at a place, which is [factor] * ([slope] * letter + [rest]); or [more] times [part]
    is taken off a multiple of what is to have a sign, where the constraint at a place is [factor] * [part]. *)
Inductive step :=
  | Solve (letter place : nat) (factor slope rest : poly)
  | Take (place : nat) (factor part multiple more : poly).
Definition constraints := list (pol * bool).
Definition true_one : pol * bool := (Pc 1%Z, true).
Definition satisfied (l : list R) (c : pol * bool) : Prop :=
  0 <= phi l (fst c) /\ (snd c = true -> 0 < phi l (fst c)).

(** What stands for the letter, the letters that are positive then, and the constraints. *)
Definition solve (k place : nat) (f a r : pol) (strict : list bool) (domain : constraints)
  : option (pol * pol * list bool * constraints) :=
  let (g, sign) := nth place domain true_one in
  let after := set false k sign strict in
  if same g (mul f (add (mul a (gen k)) r)) && pos strict 0 f && without k 0 a && without k 0 r
  then if pos strict 0 a
    then Some (add (mul a (gen k)) (opp r), a, after, set true_one place true_one domain)
    else if pos strict 0 (opp a) && nth k strict false
      then Some (r, mul (opp a) (add (Pc 1%Z) (gen k)), after, set true_one place (r, true) domain)
      else None
  else None.

(** What a positive multiple of a polynomial is not less than, and the letters and slacks that are positive. *)
Fixpoint follow (steps : list step) (strict : list bool) (domain : constraints) (p : pol) : option (list bool * pol) :=
  match steps with
  | [] => Some (strict, p)
  | Solve k place f a r :: steps =>
    match solve k place (norm f) (norm a) (norm r) strict domain with
    | Some (num, den, strict, domain) =>
      let image q := fst (written k num den 0 q) in
      follow steps strict (map (fun c => (image (fst c), snd c)) domain) (image p)
    | None => None
    end
  | Take place f part multiple more :: steps =>
    let (f, part) := (norm f, norm part) in
    let (multiple, more) := (norm multiple, norm more) in
    if same (fst (nth place domain true_one)) (mul f part) && pos strict 0 f && pos strict 0 multiple && nonneg more
    then follow steps strict domain (add (mul multiple p) (opp (mul more part)))
    else None
  end.

Lemma nth_satisfied : forall l domain n, Forall (satisfied l) domain -> satisfied l (nth n domain true_one).
Proof.
  intros l domain n H; revert n; induction H; intros [|n]; cbn [nth]; auto; split; cbn; intros; lra.
Qed.

Lemma set_satisfied : forall l c domain n, Forall (satisfied l) domain -> satisfied l c ->
  Forall (satisfied l) (set true_one n c domain).
Proof.
  intros l c domain n H Hc; assert (H1 : satisfied l true_one) by (split; cbn; intros; lra).
  revert n; induction H; intros n; [induction n|destruct n]; cbn [set]; auto.
Qed.

Lemma solve_sound : forall k at_ f a r strict domain l num den strict' domain',
  solve k at_ f a r strict domain = Some (num, den, strict', domain') -> signed strict l ->
  Forall (satisfied l) domain -> exists x, let m := set 0 k x l in
    signed strict' m /\ 0 < phi m den /\ nth k l 0 * phi m den = phi m num /\ Forall (satisfied l) domain'.
Proof.
  intros k at_ f a r strict domain l num den strict' domain' H Hl Hd; unfold solve in H.
  pose proof (nth_satisfied l domain at_ Hd) as Hg; destruct (nth at_ domain true_one) as [g sign].
  destruct (same _ _) eqn:Hs; [|discriminate]; destruct (pos strict 0 f) eqn:Hf; [|discriminate].
  destruct (without k 0 a) eqn:Ha; [|discriminate]; destruct (without k 0 r) eqn:Hr; [|discriminate].
  cbn [andb] in H; apply (phi_same l) in Hs; rewrite phi_mul, phi_add, phi_mul, phi_gen in Hs.
  apply (pos_phi strict l Hl _ 0) in Hf; cbn [skipn] in Hf.
  pose proof (fun x => without_phi k x l a 0 Ha) as Ea; pose proof (fun x => without_phi k x l r 0 Hr) as Er.
  cbn [skipn] in Ea, Er; set (left := phi l a * nth k l 0 + phi l r) in *.
  destruct Hg as [Hg Hg']; cbn [fst snd] in *; rewrite Hs in Hg, Hg'.
  assert (L0 : 0 <= left).
  { apply Rnot_lt_le; intro; assert (0 < phi l f * - left) by (apply Rmult_lt_0_compat; lra); lra. }
  assert (L1 : sign = true -> 0 < left).
  { intro E; specialize (Hg' E); apply Rnot_le_lt; intro.
    assert (0 <= phi l f * - left) by (apply Rmult_le_pos; lra); lra. }
  assert (new : forall t, 0 <= t -> (sign = true -> 0 < t) -> signed (set false k sign strict) (set 0 k t l)).
  { intros t T0 T1 n; rewrite !nth_set; destruct (Nat.eqb n k); [auto|apply Hl]. }
  destruct (pos strict 0 a) eqn:Pa.
  - injection H as <- <- <- <-; exists (left / phi l a); cbv zeta.
    apply (pos_phi strict l Hl _ 0) in Pa; cbn [skipn] in Pa.
    assert (T0 : 0 <= left / phi l a) by (apply Rmult_le_pos; [exact L0|left; apply Rinv_0_lt_compat, Pa]).
    rewrite phi_add, phi_mul, phi_opp, phi_gen, nth_set, Nat.eqb_refl, Ea, Er.
    repeat split; auto; try (apply new; [exact T0|intro E; apply Rdiv_lt_0_compat; auto]); try exact Pa.
    + unfold left; field; lra.
    + apply set_satisfied; [exact Hd|split; cbn; intros; lra].
  - destruct (pos strict 0 (opp a)) eqn:Na; [|discriminate]; destruct (nth k strict false) eqn:Hk; [|discriminate].
    injection H as <- <- <- <-; apply (pos_phi strict l Hl _ 0) in Na; cbn [skipn] in Na; rewrite phi_opp in Na.
    pose proof (proj2 (Hl k) Hk) as X; set (x := nth k l 0) in *.
    assert (Y : 0 < - phi l a * x) by (apply Rmult_lt_0_compat; assumption).
    assert (T0 : 0 <= left / (- phi l a * x)) by (apply Rmult_le_pos; [exact L0|left; apply Rinv_0_lt_compat, Y]).
    exists (left / (- phi l a * x)); cbv zeta.
    rewrite phi_mul, phi_add, phi_opp, phi_gen, nth_set, Nat.eqb_refl, Ea, Er; repeat split.
    + apply new; [exact T0|intro E; apply Rdiv_lt_0_compat; auto].
    + apply new; [exact T0|intro E; apply Rdiv_lt_0_compat; auto].
    + cbn; apply Rmult_lt_0_compat; lra.
    + unfold left; cbn; field; split; lra.
    + apply set_satisfied; [exact Hd|]; unfold left in L0; split; cbn; intros; lra.
Qed.

Lemma follow_sound : forall steps strict domain p l strict' q,
  follow steps strict domain p = Some (strict', q) -> signed strict l -> Forall (satisfied l) domain ->
  exists m c, signed strict' m /\ 0 < c /\ phi m q <= c * phi l p.
Proof.
  induction steps as [|[k at_ f a r|at_ f part t more] steps IH]; intros strict domain p l strict' q H Hl Hd;
    cbn [follow] in H.
  - injection H as <- <-; exists l, 1; repeat split; [apply Hl|apply Hl|lra|lra].
  - destruct (solve _ _ _ _ _ strict domain) as [[[[num den] strict1] domain1]|] eqn:E; [|discriminate].
    destruct (solve_sound _ _ _ _ _ _ _ _ _ _ _ _ E Hl Hd) as (x & Hm & Hden & Hx & Hd1); cbv zeta in *.
    set (m := set 0 k x l) in *.
    assert (W : forall p, phi m (fst (written k num den 0 p)) = phi m den ^ snd (written k num den 0 p) * phi l p).
    { intro s; apply (written_phi k num den l m); [|exact Hx].
      intros n En; unfold m; rewrite nth_set, En; reflexivity. }
    destruct (IH _ _ _ m _ _ H Hm) as (m' & c & Hm' & Hc & Hq).
    + clear - W Hden Hd1; induction Hd1 as [|[g sign] domain1 [H0 H1] _ IH]; cbn [map]; constructor; [|exact IH].
      split; cbn [fst snd] in *; rewrite W; [|intro E]; [apply Rmult_le_pos|apply Rmult_lt_0_compat]; auto.
      * left; apply pow_lt, Hden.
      * apply pow_lt, Hden.
    + exists m', (c * phi m den ^ snd (written k num den 0 p)); split; [exact Hm'|split].
      * apply Rmult_lt_0_compat; [exact Hc|apply pow_lt, Hden].
      * rewrite W in Hq; lra.
  - revert H; generalize (norm f) (norm part) (norm t) (norm more); clear f part t more; intros f part t more H.
    destruct (same _ _) eqn:Hs; [|discriminate]; destruct (pos strict 0 f) eqn:Hf; [|discriminate].
    destruct (pos strict 0 t) eqn:Ht; [|discriminate]; destruct (nonneg more) eqn:Hn; [|discriminate].
    cbn [andb] in H; destruct (IH _ _ _ l _ _ H Hl Hd) as (m & c & Hm & Hc & Hq).
    apply (pos_phi _ _ Hl _ 0) in Hf, Ht; apply (nonneg_phi _ _ Hl _ 0) in Hn; cbn [skipn] in Hf, Ht, Hn.
    destruct (nth_satisfied l domain at_ Hd) as [Hg _]; apply (phi_same l) in Hs; rewrite Hs, phi_mul in Hg.
    assert (L0 : 0 <= phi l part).
    { apply Rnot_lt_le; intro; assert (0 < phi l f * - phi l part) by (apply Rmult_lt_0_compat; lra); lra. }
    rewrite phi_add, phi_opp, !phi_mul in Hq.
    exists m, (c * phi l t); split; [exact Hm|split]; [apply Rmult_lt_0_compat; assumption|].
    pose proof (Rmult_le_pos _ _ (Rlt_le _ _ Hc) (Rmult_le_pos _ _ Hn L0)); lra.
Qed.

(** ** Products of factors of known signs *)

(** A factor with what is known of its sign: whether it is negative, and whether it is never 0. *)
Definition factors := list (pol * option (bool * bool)).
Definition factored : Type := Z * list (nat * nat).
Definition number (c : Z) : factored := (c, []).
Definition no_factor : pol * option (bool * bool) := (Pc 1%Z, Some (false, true)).

(** Whether steps show that a polynomial is nowhere negative, and whether then also that it is never 0. *)
Definition shown (strict : list bool) (domain : constraints) (steps : list step) (p : pol) : option bool :=
  match follow steps strict domain p with
  | Some (strict, q) => if pos strict 0 q then Some true else if nonneg q then Some false else None
  | None => None
  end.

Definition sign_of (strict : list bool) (domain : constraints) (p : pol) (steps : list step) : option (bool * bool) :=
  match shown strict domain steps p with
  | Some s => Some (false, s)
  | None => match shown strict domain steps (opp p) with Some s => Some (true, s) | None => None end
  end.

(** That a number has a sign. *)
Definition has (sign : bool * bool) (x : R) : Prop :=
  let y := if fst sign then - x else x in 0 <= y /\ (snd sign = true -> 0 < y).
Definition known_sign (l : list R) (f : pol * option (bool * bool)) : Prop :=
  match snd f with Some sign => has sign (phi l (fst f)) | None => True end.

Lemma shown_sound : forall strict domain steps p s l, shown strict domain steps p = Some s ->
  signed strict l -> Forall (satisfied l) domain -> 0 <= phi l p /\ (s = true -> 0 < phi l p).
Proof.
  intros strict domain steps p s l H Hl Hd; unfold shown in H.
  destruct (follow steps strict domain p) as [[strict' q]|] eqn:E; [|discriminate].
  destruct (follow_sound _ _ _ _ _ _ _ E Hl Hd) as (m & c & Hm & Hc & Hq).
  destruct (pos strict' 0 q) eqn:Hp; [|destruct (nonneg q) eqn:Hn; [|discriminate]]; injection H as <-.
  - apply (pos_phi _ _ Hm _ 0) in Hp; cbn [skipn] in Hp.
    assert (0 < phi l p); [|split; intros; lra].
    apply Rnot_le_lt; intro; assert (0 <= c * - phi l p) by (apply Rmult_le_pos; lra); lra.
  - apply (nonneg_phi _ _ Hm _ 0) in Hn; cbn [skipn] in Hn; split; [|discriminate].
    apply Rnot_lt_le; intro; assert (0 < c * - phi l p) by (apply Rmult_lt_0_compat; lra); lra.
Qed.

Lemma sign_of_sound : forall strict domain p steps l, signed strict l -> Forall (satisfied l) domain ->
  known_sign l (p, sign_of strict domain p steps).
Proof.
  intros strict domain p steps l Hl Hd; unfold known_sign, sign_of; cbn [snd fst].
  destruct (shown strict domain steps p) eqn:U; [|destruct (shown strict domain steps (opp p)) eqn:D; [|exact I]].
  - exact (shown_sound _ _ _ _ _ _ U Hl Hd).
  - unfold has; cbn [fst snd]; rewrite <- phi_opp; exact (shown_sound _ _ _ _ _ _ D Hl Hd).
Qed.

Section Factored.
Variable of : factors.

Definition factor_at (j : nat) := nth j of no_factor.
Definition product (p : factored) : pol :=
  fold_right (fun f r => mul (power (fst (factor_at (fst f))) (snd f)) r) (Pc (fst p)) (snd p).

(** Whether the product of powers is negative, and whether it is never 0. *)
Fixpoint side (powers : list (nat * nat)) : option (bool * bool) :=
  match powers with
  | [] => Some (false, true)
  | (j, k) :: powers =>
    match side powers, snd (factor_at j) with
    | Some (negative, strict), Some (n, s) => Some (xorb negative (n && Nat.odd k), strict && s)
    | Some (negative, _), None => if Nat.even k then Some (negative, false) else None
    | None, _ => None
    end
  end.
Definition is_nonneg (p : factored) : bool :=
  (fst p =? 0)%Z || match side (snd p) with
  | Some (negative, _) => if negative then (fst p <=? 0)%Z else (0 <=? fst p)%Z
  | None => false
  end.
Definition is_pos (p : factored) : bool :=
  match side (snd p) with
  | Some (negative, true) => if negative then (fst p <? 0)%Z else (0 <? fst p)%Z
  | _ => false
  end.

Variable l : list R.
Hypothesis signs : Forall (known_sign l) of.

Lemma factor_sign : forall j, known_sign l (factor_at j).
Proof.
  intros j; unfold factor_at; destruct (nth_in_or_default j of no_factor) as [H| ->].
  - rewrite Forall_forall in signs; auto.
  - unfold known_sign, has, no_factor; cbn; split; intros; lra.
Qed.

Lemma has_power : forall n s x k, has (n, s) x -> has (n && Nat.odd k, s) (x ^ k).
Proof.
  intros n s x k; unfold has; cbn [fst snd]; intros [H0 H1].
  assert (E : (if n && Nat.odd k then - x ^ k else x ^ k) = (if n then - x else x) ^ k).
  { destruct n; cbn [andb]; [|reflexivity]; replace (- x) with (-1 * x) by ring; rewrite Rpow_mult_distr.
    destruct (Nat.odd k) eqn:O.
    - apply Nat.odd_spec in O as [i ->]; rewrite !pow_add, pow_1_even; ring.
    - rewrite <- Nat.negb_even in O; apply negb_false_iff, Nat.even_spec in O as [i ->]; rewrite pow_1_even; ring. }
  rewrite E; split; [apply pow_le, H0|intro Hs; apply pow_lt, H1, Hs].
Qed.

Lemma has_product : forall n s x m t y, has (n, s) x -> has (m, t) y -> has (xorb n m, s && t) (y * x).
Proof.
  intros n s x m t y; unfold has; cbn [fst snd]; intros [H0 H1] [K0 K1].
  assert (E : (if xorb n m then - (y * x) else y * x) = (if m then - y else y) * (if n then - x else x))
    by (destruct n, m; cbn [xorb]; ring).
  rewrite E; split; [apply Rmult_le_pos; assumption|].
  intro H; apply andb_prop in H as [Hs Ht]; apply Rmult_lt_0_compat; auto.
Qed.

Definition powers_value (powers : list (nat * nat)) : R :=
  fold_right (fun f r => phi l (fst (factor_at (fst f))) ^ snd f * r) 1 powers.

Lemma product_value : forall p, phi l (product p) = IZR (fst p) * powers_value (snd p).
Proof.
  intros [c powers]; unfold product, powers_value; cbn [fst snd]; induction powers; cbn [fold_right].
  - cbn; ring.
  - rewrite phi_mul, phi_power, IHpowers; ring.
Qed.

Lemma side_sound : forall powers sign, side powers = Some sign -> has sign (powers_value powers).
Proof.
  induction powers as [|[j k] powers IH]; intros sign H; cbn [side] in H.
  - injection H as <-; unfold has; cbn; split; intros; lra.
  - destruct (side powers) as [[negative strict]|]; [|discriminate].
    change (powers_value ((j, k) :: powers)) with (phi l (fst (factor_at j)) ^ k * powers_value powers).
    specialize (IH _ eq_refl); pose proof (factor_sign j) as F; unfold known_sign in F.
    destruct (snd (factor_at j)) as [[n s]|].
    + injection H as <-; apply has_product; [exact IH|apply has_power, F].
    + destruct (Nat.even k) eqn:E; [|discriminate]; injection H as <-.
      replace (negative, false) with (xorb negative false, strict && false)
        by (rewrite xorb_false_r, andb_false_r; reflexivity).
      apply has_product; [exact IH|]; unfold has; cbn [fst snd]; split; [|discriminate].
      apply Nat.even_spec in E as [i ->]; rewrite pow_mult; apply pow_le, pow2_ge_0.
Qed.

Lemma is_nonneg_sound : forall p, is_nonneg p = true -> 0 <= phi l (product p).
Proof.
  intros [c powers] H; unfold is_nonneg in H; rewrite product_value; cbn [fst snd] in *.
  apply orb_prop in H as [H|H]; [apply Z.eqb_eq in H; subst c; lra|].
  destruct (side powers) as [[negative strict]|] eqn:E; [|discriminate].
  apply side_sound in E; destruct E as [E _]; cbn [fst] in E; destruct negative; apply Z.leb_le, IZR_le in H.
  - replace (IZR c * powers_value powers) with (- IZR c * - powers_value powers) by ring; apply Rmult_le_pos; lra.
  - apply Rmult_le_pos; lra.
Qed.

Lemma is_pos_sound : forall p, is_pos p = true -> 0 < phi l (product p).
Proof.
  intros [c powers] H; unfold is_pos in H; rewrite product_value; cbn [fst snd] in *.
  destruct (side powers) as [[negative [|]]|] eqn:E; try discriminate.
  apply side_sound in E; destruct E as [_ E]; cbn [fst snd] in E; specialize (E eq_refl).
  destruct negative; apply Z.ltb_lt, IZR_lt in H.
  - replace (IZR c * powers_value powers) with (- IZR c * - powers_value powers) by ring; apply Rmult_lt_0_compat; lra.
  - apply Rmult_lt_0_compat; lra.
Qed.
End Factored.

(** * What is read *)

(** Coefficients are a polynomial, or a quotient of two; terms are added or subtracted. *)
Definition quotient : Type := poly * option poly.
Definition whole (n : Z) : option quotient := Some (PEc n, None).
Definition ratio (n d : Z) : option quotient := Some (PEc n, Some (PEc d)).
Inductive thing := One | Value (k : positive) | Product (i j : positive).
Record term := Term { minus : bool; coefficient : option quotient; what : thing }.
Definition sum := list term.
(** That a polynomial is positive, or else nonnegative. *)
Definition condition : Type := bool * poly.
(** Letters, of which those that are told are positive and the others nonnegative, what else they are to meet, the known
    sums, and the one of which something is claimed. *)
Inductive relation := AtMost | Below | Equal.
Record claim := {
  letters : list bool;
  conditions : list condition;
  known : list sum;
  target : sum;
  compared : relation }.

Section Reading.
Variable E : space.
Variables (v : list E) (f l : list R).

Definition read_quotient (q : quotient) : R :=
  match snd q with Some d => value l (fst q) / value l d | None => value l (fst q) end.
Definition read_thing (t : thing) : R :=
  match t with
  | One => 1
  | Value k => BinList.nth 0 k f
  | Product i j => inner (BinList.nth (zero E) i v) (BinList.nth (zero E) j v)
  end.
Definition read_term (t : term) : R :=
  match t.(coefficient), t.(what) with
  | None, x => read_thing x
  | Some q, One => read_quotient q
  | Some q, x => read_quotient q * read_thing x
  end.
Definition read_sum (s : sum) : R :=
  match s with
  | [] => 0
  | t :: s => fold_left (fun x t => if t.(minus) then x - read_term t else x + read_term t) s
      (if t.(minus) then - read_term t else read_term t)
  end.
Fixpoint read_letters (strict : list bool) (k : positive) : list Prop :=
  match strict with
  | [] => []
  | s :: strict => (if s then 0 < BinList.nth 0 k l else 0 <= BinList.nth 0 k l) :: read_letters strict (Pos.succ k)
  end.
Definition read_condition (c : condition) : Prop := if fst c then 0 < value l (snd c) else 0 <= value l (snd c).
Fixpoint implies (hypotheses : list Prop) (conclusion : Prop) : Prop :=
  match hypotheses with [] => conclusion | h :: hypotheses => h -> implies hypotheses conclusion end.
Definition read_target (c : claim) : Prop :=
  match c.(compared) with
  | AtMost => read_sum c.(target) <= 0
  | Below => read_sum c.(target) < 0
  | Equal => read_sum c.(target) = 0
  end.
Definition statement (c : claim) : Prop :=
  implies (read_letters c.(letters) 1) (implies (map read_condition c.(conditions))
    (implies (map (fun s => read_sum s <= 0) c.(known)) (read_target c))).

Lemma implies_intro : forall hypotheses (conclusion : Prop), (Forall (fun h => h) hypotheses -> conclusion) ->
  implies hypotheses conclusion.
Proof. induction hypotheses; cbn [implies]; intros conclusion H; auto. Qed.

Lemma read_letters_signed : forall strict, length l = length strict -> Forall (fun h => h) (read_letters strict 1) ->
  signed strict l.
Proof.
  assert (H : forall strict k n, Forall (fun h => h) (read_letters strict k) -> (n < length strict)%nat ->
    let x := BinList.nth 0 (Pos.of_nat (Pos.to_nat k + n)) l in 0 <= x /\ (nth n strict false = true -> 0 < x)).
  { induction strict as [|s strict IH]; intros k n H Hn; cbn [length read_letters] in *; [lia|].
    inversion_clear H as [|? ? H0 H1]; destruct n as [|n]; cbv zeta.
    - rewrite Nat.add_0_r, Pos2Nat.id; cbn [nth]; destruct s; split; intros; try discriminate; lra.
    - specialize (IH _ n H1 ltac:(lia)); cbv zeta in IH.
      replace (Pos.to_nat k + S n)%nat with (Pos.to_nat (Pos.succ k) + n)%nat by lia; exact IH. }
  intros strict Hl Hs n; destruct (Nat.ltb_spec n (length strict)) as [Hn|Hn].
  - specialize (H strict 1%positive n Hs Hn); cbv zeta in H.
    replace (Pos.of_nat (Pos.to_nat 1 + n)) with (Pos.of_succ_nat n) in H by lia.
    rewrite <- phi_gen; unfold gen; rewrite phi_norm; exact H.
  - rewrite !nth_overflow by lia; split; [lra|discriminate].
Qed.

Definition signed_term (t : term) : R := if t.(minus) then - read_term t else read_term t.

Lemma read_sum_terms : forall s, read_sum s = fold_right (fun t x => signed_term t + x) 0 s.
Proof.
  assert (H : forall s x, fold_left (fun x t => if t.(minus) then x - read_term t else x + read_term t) s x
    = x + fold_right (fun t x => signed_term t + x) 0 s).
  { induction s as [|t s IH]; intros x; cbn [fold_left fold_right]; [ring|].
    rewrite IH; unfold signed_term; destruct (minus t); ring. }
  intros [|t s]; [reflexivity|]; unfold read_sum; rewrite H; unfold signed_term; cbn [fold_right]; reflexivity.
Qed.
End Reading.

(** * What is computed *)

(** A sum times a factored [scale]: what each denominator is to be multiplied by to make the scale. *)
Record cleared := Cleared { scale : factored; cofactors : list factored }.
Definition form := list (thing * pol).

Section Computed.
Variable known_factors : factors.
Let expand := product known_factors.

Definition numerator (t : term) : pol :=
  let p := match t.(coefficient) with Some q => norm (fst q) | None => Pc 1%Z end in if t.(minus) then opp p else p.
Definition denominator (t : term) : pol :=
  match t.(coefficient) with Some (_, Some d) => norm d | _ => Pc 1%Z end.

Fixpoint clear (scale : pol) (s : sum) (cofactors : list factored) : option form :=
  match s, cofactors with
  | [], [] => Some []
  | t :: s, c :: cofactors =>
    let e := expand c in
    if same scale (mul e (denominator t))
    then match clear scale s cofactors with Some f => Some ((t.(what), mul e (numerator t)) :: f) | None => None end
    else None
  | _, _ => None
  end.

(** Collected coefficients: products by their two numbers, 1 first of the values. *)
Inductive tree (A : Type) := Leaf | Node (l : tree A) (a : option A) (r : tree A).
Arguments Leaf {A}.
Arguments Node {A}.

Fixpoint update {A} (f : option A -> A) (k : positive) (t : tree A) : tree A :=
  match t, k with
  | Leaf, xH => Node Leaf (Some (f None)) Leaf
  | Leaf, xO k => Node (update f k Leaf) None Leaf
  | Leaf, xI k => Node Leaf None (update f k Leaf)
  | Node l a r, xH => Node l (Some (f a)) r
  | Node l a r, xO k => Node (update f k l) a r
  | Node l a r, xI k => Node l a (update f k r)
  end.
Fixpoint every {A} (p : A -> bool) (t : tree A) : bool :=
  match t with
  | Leaf => true
  | Node l a r => every p l && match a with Some a => p a | None => true end && every p r
  end.

Record sums := { gram : tree (tree pol); linear : tree pol }.
Definition nothing := {| gram := Leaf; linear := Leaf |}.
Definition plus_to (c : pol) (a : option pol) : pol := match a with Some a => add a c | None => c end.
Definition add_value (k : positive) (c : pol) (s : sums) : sums :=
  {| gram := s.(gram); linear := update (plus_to c) k s.(linear) |}.
Definition add_product (i j : positive) (c : pol) (s : sums) : sums :=
  let (i, j) := if (i <=? j)%positive then (i, j) else (j, i) in
  {| gram := update (fun t => update (plus_to c) j (match t with Some t => t | None => Leaf end)) i s.(gram);
     linear := s.(linear) |}.
Definition add_thing (t : thing) (c : pol) : sums -> sums :=
  match t with One => add_value 1 c | Value k => add_value (Pos.succ k) c | Product i j => add_product i j c end.
Definition add_form (w : pol) (f : form) (s : sums) : sums :=
  fold_right (fun e s => add_thing (fst e) (mul w (snd e)) s) s f.

(** A combination of vectors; the square of one, its products of different vectors counted once and doubled. *)
Definition combination := list (positive * pol).
Fixpoint add_square (w : pol) (v : combination) (s : sums) : sums :=
  match v with
  | [] => s
  | (i, x) :: v =>
    let wx := mul w x in
    let double := add wx wx in
    add_square w v (add_product i i (mul wx x)
      (fold_right (fun b s => add_product i (fst b) (mul double (snd b)) s) s v))
  end.
Definition is_zero (p : pol) : bool := same p (Pc 0%Z).
Definition all_zero (s : sums) : bool := every (every is_zero) s.(gram) && every is_zero s.(linear).

Section Meaning.
Variable E : space.
Variables (v : list E) (f l : list R).
Hypothesis signs : Forall (known_sign l) known_factors.
Let vector (i : positive) := BinList.nth (zero E) i v.

Definition meaning (g : form) : R := fold_right (fun e r => phi l (snd e) * read_thing E v f (fst e) + r) 0 g.

Lemma clear_sound : forall p s cofactors g, 0 < phi l p -> clear p s cofactors = Some g ->
  meaning g = phi l p * read_sum E v f l s.
Proof.
  intros p s cofactors g Hp; rewrite read_sum_terms; revert cofactors g.
  induction s as [|t s IH]; intros [|c cofactors] g H; cbn [clear] in H; try discriminate.
  - injection H as <-; cbn; ring.
  - destruct (same _ _) eqn:Hs; [|discriminate].
    destruct (clear p s cofactors) as [h|] eqn:Hc; [|discriminate]; injection H as <-.
    apply (phi_same l) in Hs; rewrite phi_mul in Hs; cbn [meaning fold_right fst snd].
    fold (meaning h); rewrite (IH _ _ Hc), phi_mul, Rmult_plus_distr_l, Hs; f_equal.
    rewrite Hs in Hp; set (e := phi l (expand c)) in *; clearbody e; clear - Hp.
    unfold signed_term, numerator, read_term, denominator, read_quotient in *.
    destruct t as [m [[n [d|]]|] x]; cbn [minus coefficient what fst snd] in *; rewrite ?phi_norm in *.
    + assert (value l d <> 0) by (intro D; rewrite D in Hp; lra).
      destruct m, x; rewrite ?phi_opp, ?phi_norm; cbn [read_thing]; field; assumption.
    + destruct m, x; rewrite ?phi_opp, ?phi_norm; cbn; ring.
    + destruct m, x; rewrite ?phi_opp; cbn; ring.
Qed.

Definition at_most_one {A} (g : A -> R) (a : option A) : R := match a with Some a => g a | None => 0 end.
Fixpoint total {A} (g : positive -> A -> R) (t : tree A) : R :=
  match t with
  | Leaf => 0
  | Node l a r => total (fun k => g (xO k)) l + at_most_one (g xH) a + total (fun k => g (xI k)) r
  end.

Lemma total_update : forall A (h : option A -> A) (d : R) k (g : positive -> A -> R) t,
  (forall a, g k (h a) = at_most_one (g k) a + d) -> total g (update h k t) = total g t + d.
Proof.
  intros A h d; induction k; intros g [|a o b] H; cbn [update total at_most_one].
  - rewrite (IHk (fun k => g (xI k))) by exact H; cbn; lra.
  - rewrite (IHk (fun k => g (xI k))) by exact H; lra.
  - rewrite (IHk (fun k => g (xO k))) by exact H; cbn; lra.
  - rewrite (IHk (fun k => g (xO k))) by exact H; lra.
  - rewrite H; cbn; lra.
  - rewrite H; lra.
Qed.

Lemma total_zero : forall A (p : A -> bool) t (g : positive -> A -> R),
  (forall k a, p a = true -> g k a = 0) -> every p t = true -> total g t = 0.
Proof.
  intros A p; induction t as [|a IHa o b IHb]; intros g Hg H; cbn in *; [reflexivity|].
  apply andb_prop in H as [H Hb]; apply andb_prop in H as [Ha Ho].
  rewrite (IHa (fun k => g (xO k))), (IHb (fun k => g (xI k))) by (auto; intros; apply Hg; assumption).
  destruct o; cbn; [rewrite Hg by assumption|]; lra.
Qed.

Definition of_row (i j : positive) (c : pol) : R := phi l c * inner (vector i) (vector j).
Definition of_value (k : positive) (c : pol) : R := phi l c * BinList.nth 0 k (1 :: f).
Definition worth (s : sums) : R := total (fun i => total (of_row i)) s.(gram) + total of_value s.(linear).

Lemma worth_product : forall i j c s, worth (add_product i j c s) = worth s + phi l c * inner (vector i) (vector j).
Proof.
  intros i j c s; unfold add_product.
  assert (H : forall i j, worth {| gram := update (fun t => update (plus_to c) j
      (match t with Some t => t | None => Leaf end)) i s.(gram); linear := s.(linear) |}
    = worth s + phi l c * inner (vector i) (vector j)).
  { intros a b; unfold worth; cbn [gram linear].
    rewrite (total_update _ _ (phi l c * inner (vector a) (vector b))); [lra|].
    intros t; rewrite (total_update _ _ (phi l c * inner (vector a) (vector b))).
    - destruct t; cbn; lra.
    - intros [x|]; unfold of_row, plus_to, at_most_one; [rewrite phi_add|]; lra. }
  destruct (i <=? j)%positive; rewrite H; [|rewrite (inner_sym _ (vector j))]; reflexivity.
Qed.

Lemma worth_value : forall k c s, worth (add_value k c s) = worth s + phi l c * BinList.nth 0 k (1 :: f).
Proof.
  intros k c s; unfold worth, add_value; cbn [gram linear].
  rewrite (total_update _ _ (phi l c * BinList.nth 0 k (1 :: f))); [lra|].
  intros [x|]; unfold of_value, plus_to, at_most_one; [rewrite phi_add|]; lra.
Qed.

Lemma nth_succ : forall k, BinList.nth 0 (Pos.succ k) (1 :: f) = BinList.nth 0 k f.
Proof.
  intros k; change (1 :: f) with (tl (0 :: 1 :: f)); rewrite nth_jump, jump_succ; cbn [jump].
  rewrite jump_tl; cbn [tl]; change f with (tl (1 :: f)) at 2; rewrite nth_jump; reflexivity.
Qed.

Lemma worth_form : forall w g s, worth (add_form w g s) = worth s + phi l w * meaning g.
Proof.
  intros w g s; induction g as [|[t c] g IH]; cbn [add_form meaning fold_right fst snd]; [lra|].
  fold (add_form w g s) (meaning g); destruct t; cbn [add_thing read_thing];
    rewrite ?worth_value, ?worth_product, ?nth_succ, IH, phi_mul; [cbn|..]; unfold vector; ring.
Qed.

Definition sum_of (c : combination) : E :=
  fold_right (fun e r => plus E (times E (phi l (snd e)) (vector (fst e))) r) (zero E) c.

Lemma worth_row : forall i w d s, worth (fold_right (fun b s => add_product i (fst b) (mul w (snd b)) s) s d)
  = worth s + phi l w * inner (sum_of d) (vector i).
Proof.
  intros i w d s; induction d as [|[j y] d IH]; cbn [fold_right sum_of fst snd].
  - rewrite inner_zero; lra.
  - rewrite worth_product, IH, inner_plus, inner_times, phi_mul; fold (sum_of d).
    rewrite (inner_sym _ (vector i)); ring.
Qed.

Lemma worth_square : forall w c s, worth (add_square w c s) = worth s + phi l w * inner (sum_of c) (sum_of c).
Proof.
  intros w c; induction c as [|[i x] c IH]; intros s; cbn [add_square].
  - cbn [sum_of fold_right]; rewrite inner_zero; lra.
  - rewrite IH, worth_product, worth_row, phi_mul, phi_add, phi_mul; cbn [sum_of fold_right fst snd]; fold (sum_of c).
    rewrite inner_plus, inner_times, !(inner_sym _ _ (plus _ _ _)), !inner_plus, !inner_times.
    rewrite (inner_sym _ (vector i) (sum_of c)); ring.
Qed.

Lemma zero_worth : forall s, all_zero s = true -> worth s = 0.
Proof.
  intros s H; unfold worth; apply andb_prop in H as [Hg Hl].
  assert (Z0 : forall c r, is_zero c = true -> phi l c * r = 0).
  { intros c r E0; apply (phi_same l) in E0; rewrite E0; cbn; lra. }
  rewrite (total_zero _ (every is_zero)), (total_zero _ is_zero); auto; [lra| |].
  - intros k a; apply Z0.
  - intros k a Ha; apply (total_zero _ is_zero); auto; intros; apply Z0; assumption.
Qed.
End Meaning.
End Computed.

(** * What is proved *)

(** Factors with charts; positive multiples of the target; weights of known sums, of squares, and of 1. *)
Record proof := {
  charts : list (poly * list step);
  multiple : factored;
  main : cleared;
  weights : list (factored * cleared);
  squares : list (factored * list (positive * poly));
  constants : list factored }.

Fixpoint used (of : factors) (known : list sum) (weights : list (factored * cleared)) : option (list (pol * form)) :=
  match known, weights with
  | [], [] => Some []
  | s :: known, (w, c) :: weights =>
    if is_nonneg of w && is_pos of c.(scale)
    then match clear of (product of c.(scale)) s c.(cofactors), used of known weights with
      | Some g, Some rest => Some ((product of w, g) :: rest)
      | _, _ => None
      end
    else None
  | _, _ => None
  end.

(** [multiple] target = sum of weight known - sum of weight square - sum of constants. *)
Definition check (c : claim) (p : proof) : bool :=
  let domain := map (fun c => (norm (snd c), fst c)) c.(conditions) in
  let of := map (fun f => let q := norm (fst f) in (q, sign_of c.(letters) domain q (snd f))) p.(charts) in
  is_pos of p.(multiple) && is_pos of p.(main).(scale)
  && forallb (fun s => is_nonneg of (fst s)) p.(squares) && forallb (is_nonneg of) p.(constants)
  && match c.(compared) with
    | AtMost => true
    | Below => existsb (is_pos of) p.(constants)
    | Equal => match p.(weights), p.(squares), p.(constants) with [], [], [] => true | _, _, _ => false end
    end
  && match clear of (product of p.(main).(scale)) c.(target) p.(main).(cofactors), used of c.(known) p.(weights) with
    | Some t, Some k =>
      all_zero (fold_right (fun w => add_value 1 (product of w))
        (fold_right (fun s => add_square (product of (fst s)) (map (fun x => (fst x, norm (snd x))) (snd s)))
          (fold_right (fun k => add_form (opp (fst k)) (snd k)) (add_form (product of p.(multiple)) t nothing) k)
          p.(squares)) p.(constants))
    | _, _ => false
    end.

Section Sound.
Variable E : space.
Variables (v : list E) (f l : list R) (of : factors).
Hypothesis signs : Forall (known_sign l) of.

Lemma used_sound : forall given ws k s, used of given ws = Some k ->
  Forall (fun h => h) (map (fun s => read_sum E v f l s <= 0) given) ->
  worth E v f l s <= worth E v f l (fold_right (fun k => add_form (opp (fst k)) (snd k)) s k).
Proof.
  induction given as [|r given IH]; intros [|[w c] ws] k s H Hk; cbn [used] in H; try discriminate.
  - injection H as <-; cbn; lra.
  - destruct (is_nonneg of w) eqn:Hw; [|discriminate]; destruct (is_pos of (scale c)) eqn:Hc; [|discriminate].
    cbn [andb] in H; destruct (clear _ _ r _) as [g|] eqn:Hg; [|discriminate].
    destruct (used of given ws) as [rest|] eqn:Hr; [|discriminate]; injection H as <-.
    cbn [map] in Hk; inversion_clear Hk as [|? ? H0 H1]; cbn [fold_right fst snd]; rewrite worth_form, phi_opp.
    specialize (IH _ _ s Hr H1); apply (is_nonneg_sound of l signs) in Hw; apply (is_pos_sound of l signs) in Hc.
    rewrite (clear_sound of E v f l _ _ _ _ Hc Hg).
    assert (0 <= phi l (product of w) * (phi l (product of (scale c)) * - read_sum E v f l r)); [|lra].
    apply Rmult_le_pos; [exact Hw|apply Rmult_le_pos; lra].
Qed.

Lemma squares_sound : forall sq s, forallb (fun s => is_nonneg of (fst s)) sq = true ->
  worth E v f l s <= worth E v f l
    (fold_right (fun s => add_square (product of (fst s)) (map (fun x => (fst x, norm (snd x))) (snd s))) s sq).
Proof.
  induction sq as [|[w c] sq IH]; intros s H; cbn [fold_right forallb fst snd] in *; [lra|].
  apply andb_prop in H as [Hw H]; rewrite worth_square; specialize (IH s H).
  apply (is_nonneg_sound of l signs) in Hw; set (y := sum_of _ _ _ _); pose proof (inner_pos _ y).
  assert (0 <= phi l (product of w) * inner y y) by (apply Rmult_le_pos; assumption); lra.
Qed.

Lemma constants_sound : forall cs s, forallb (is_nonneg of) cs = true ->
  worth E v f l s <= worth E v f l (fold_right (fun w => add_value 1 (product of w)) s cs).
Proof.
  induction cs as [|w cs IH]; intros s H; cbn [fold_right forallb] in *; [lra|].
  apply andb_prop in H as [Hw H]; rewrite worth_value; specialize (IH s H); cbn.
  apply (is_nonneg_sound of l signs) in Hw; lra.
Qed.

Lemma constants_strict : forall cs s, forallb (is_nonneg of) cs = true -> existsb (is_pos of) cs = true ->
  worth E v f l s < worth E v f l (fold_right (fun w => add_value 1 (product of w)) s cs).
Proof.
  induction cs as [|w cs IH]; intros s H P; cbn [fold_right forallb existsb] in *; [discriminate|].
  apply andb_prop in H as [Hw H]; rewrite worth_value; cbn.
  apply orb_prop in P as [P|P].
  - apply (is_pos_sound of l signs) in P; pose proof (constants_sound cs s H); lra.
  - specialize (IH s H P); apply (is_nonneg_sound of l signs) in Hw; lra.
Qed.
End Sound.

(** A factor that is positive says nothing of a sign. *)
Lemma positive_factor : forall a x, 0 < a -> (a * x <= 0 -> x <= 0) /\ (a * x < 0 -> x < 0) /\ (a * x = 0 -> x = 0).
Proof.
  intros a x H; repeat split; intro K.
  - apply Rnot_lt_le; intro; assert (0 < a * x) by (apply Rmult_lt_0_compat; assumption); lra.
  - apply Rnot_le_lt; intro; assert (0 <= a * x) by (apply Rmult_le_pos; lra); lra.
  - apply Rmult_integral in K as [K|K]; [lra|exact K].
Qed.

Theorem holds : forall c p, check c p = true -> forall (E : space) (v : list E) (f l : list R),
  length l = length c.(letters) -> statement E v f l c.
Proof.
  intros c p H E v f l Hl; unfold statement.
  apply implies_intro; intro Hs; apply implies_intro; intro Hd; apply implies_intro; intro Hk.
  apply (read_letters_signed l _ Hl) in Hs; unfold check in H.
  set (domain := map (fun c => (norm (snd c), fst c)) (conditions c)) in H; set (of := map _ (charts p)) in H.
  assert (D : Forall (satisfied l) domain).
  { unfold domain; clear - Hd; induction (conditions c) as [|[s q] cs IH]; cbn [map fst snd] in *; constructor.
    - inversion_clear Hd as [|? ? H0 H1]; unfold read_condition in H0; cbn [fst snd] in H0.
      unfold satisfied; cbn [fst snd]; rewrite phi_norm; destruct s; split; intros; try discriminate; lra.
    - inversion_clear Hd; auto. }
  assert (S : Forall (known_sign l) of).
  { unfold of; clear - Hs D; induction (charts p) as [|[q chart] cs IH]; cbn [map fst snd]; constructor; [|exact IH].
    apply sign_of_sound; assumption. }
  clearbody of; clear D domain.
  apply andb_prop in H as [H Hz]; apply andb_prop in H as [H Hr]; apply andb_prop in H as [H H3].
  apply andb_prop in H as [H H2]; apply andb_prop in H as [H0 H1].
  destruct (clear _ _ (target c) _) as [t|] eqn:Ht; [|discriminate].
  destruct (used of (known c) (weights p)) as [k|] eqn:Hu; [|discriminate].
  apply (zero_worth E v f l) in Hz.
  apply (is_pos_sound of l S) in H0; apply (is_pos_sound of l S) in H1.
  set (s0 := add_form (product of (multiple p)) t nothing) in *.
  assert (W : worth E v f l s0 = phi l (product of (multiple p)) * phi l (product of (scale (main p)))
      * read_sum E v f l (target c)).
  { unfold s0; rewrite worth_form, (clear_sound of E v f l _ _ _ _ H1 Ht); unfold worth; cbn; ring. }
  destruct (positive_factor _ (read_sum E v f l (target c)) (Rmult_lt_0_compat _ _ H0 H1)) as (P1 & P2 & P3).
  rewrite <- W in P1, P2, P3; unfold read_target; destruct (compared c).
  - apply P1; rewrite <- Hz; eapply Rle_trans; [|apply (constants_sound E v f l of S _ _ H3)].
    eapply Rle_trans; [|apply (squares_sound E v f l of S _ _ H2)]; apply (used_sound E v f l of S _ _ _ _ Hu Hk).
  - apply P2; rewrite <- Hz; eapply Rle_lt_trans; [|apply (constants_strict E v f l of S _ _ H3 Hr)].
    eapply Rle_trans; [|apply (squares_sound E v f l of S _ _ H2)]; apply (used_sound E v f l of S _ _ _ _ Hu Hk).
  - apply P3; rewrite <- Hz; destruct (weights p), (squares p), (constants p); try discriminate Hr.
    destruct (known c); [|discriminate Hu]; injection Hu as <-; reflexivity.
Qed.

(** * Arithmetic *)

(** Lines of a calculation: a fraction, an operation on the numbers of lines before, counted back from the last, or that
    two of them compare so. *)
Inductive operation := Plus | Minus | Times | Over.
Inductive comparison := IsLess | IsAtMost | IsEqual | Differs.
Inductive line := Given (q : Q) | Made (o : operation) (i j : nat) | Compared (c : comparison) (i j : nat).

Definition operated (o : operation) (x y : R) : R :=
  match o with Plus => x + y | Minus => x - y | Times => x * y | Over => x / y end.
Definition relates (c : comparison) (x y : R) : Prop :=
  match c with IsLess => x < y | IsAtMost => x <= y | IsEqual => x = y | Differs => x <> y end.

Definition read_fraction (q : Q) : R := match Qden q with xH => IZR (Qnum q) | d => IZR (Qnum q) / IZR (Zpos d) end.
(** What a person reads: whatever the numbers are that are made so, they compare so. *)
Fixpoint calculation (before : list R) (lines : list line) : Prop :=
  match lines with
  | [] => True
  | Given q :: lines => forall x, x = read_fraction q -> calculation (x :: before) lines
  | Made o i j :: lines => forall x, x = operated o (nth i before 0) (nth j before 0) -> calculation (x :: before) lines
  | [Compared c i j] => relates c (nth i before 0) (nth j before 0)
  | Compared c i j :: lines => relates c (nth i before 0) (nth j before 0) /\ calculation before lines
  end.

Definition operates (o : operation) (x y : Q) : option Q :=
  match o with
  | Plus => Some (Qred (x + y)%Q)
  | Minus => Some (Qred (x - y)%Q)
  | Times => Some (Qred (x * y)%Q)
  | Over => if Qeq_bool y 0%Q then None else Some (Qred (x / y)%Q)
  end.
Definition compares (c : comparison) (x y : Q) : bool :=
  match c with
  | IsLess => negb (Qle_bool y x)
  | IsAtMost => Qle_bool x y
  | IsEqual => Qeq_bool x y
  | Differs => negb (Qeq_bool x y)
  end.
Fixpoint calculate (before : list Q) (lines : list line) : bool :=
  match lines with
  | [] => true
  | Given q :: lines => calculate (q :: before) lines
  | Made o i j :: lines =>
    match operates o (nth i before 0%Q) (nth j before 0%Q) with
    | Some q => calculate (q :: before) lines
    | None => false
    end
  | Compared c i j :: lines => compares c (nth i before 0%Q) (nth j before 0%Q) && calculate before lines
  end.

Lemma read_fraction_is : forall q, read_fraction q = Q2R q.
Proof. intros [n [d|d|]]; unfold read_fraction, Q2R; cbn [Qnum Qden]; [reflexivity|reflexivity|field]. Qed.

Lemma operates_sound : forall o x y q, operates o x y = Some q -> Q2R q = operated o (Q2R x) (Q2R y).
Proof.
  intros o x y q H; destruct o; cbn [operates operated] in *.
  - replace q with (Qred (x + y)) by congruence; rewrite (Qeq_eqR _ _ (Qred_correct _)); apply Q2R_plus.
  - replace q with (Qred (x - y)) by congruence; rewrite (Qeq_eqR _ _ (Qred_correct _)); apply Q2R_minus.
  - replace q with (Qred (x * y)) by congruence; rewrite (Qeq_eqR _ _ (Qred_correct _)); apply Q2R_mult.
  - destruct (Qeq_bool y 0%Q) eqn:E; [discriminate|]; replace q with (Qred (x / y)) by congruence.
    rewrite (Qeq_eqR _ _ (Qred_correct _)); apply Q2R_div; intro Z; apply Qeq_bool_iff in Z; congruence.
Qed.

Lemma compares_sound : forall c x y, compares c x y = true -> relates c (Q2R x) (Q2R y).
Proof.
  intros c x y H; destruct c; cbn [compares relates] in *.
  - apply Qlt_Rlt, Qnot_le_lt; intro L; apply Qle_bool_iff in L; rewrite L in H; discriminate.
  - apply Qle_Rle, Qle_bool_iff, H.
  - apply Qeq_eqR, Qeq_bool_iff, H.
  - intro E; apply eqR_Qeq, Qeq_bool_iff in E; rewrite E in H; discriminate.
Qed.

Theorem calculated : forall lines before, calculate before lines = true -> calculation (map Q2R before) lines.
Proof.
  assert (N : forall i before, nth i (map Q2R before) 0 = Q2R (nth i before 0%Q)).
  { intros i before; replace 0 with (Q2R 0) by (unfold Q2R; cbn; lra); apply map_nth. }
  induction lines as [|[q|o i j|c i j] lines IH]; intros before H; cbn [calculate] in H.
  - exact I.
  - intros x ->; rewrite read_fraction_is; apply (IH (q :: before) H).
  - destruct (operates _ _ _) as [q|] eqn:E; [|discriminate]; intros x ->.
    rewrite !N, <- (operates_sound _ _ _ _ E); apply (IH (q :: before) H).
  - apply andb_prop in H as [H0 H]; apply compares_sound in H0; rewrite <- !N in H0.
    destruct lines; cbn [calculation]; [exact H0|split; [exact H0|apply (IH before H)]].
Qed.
