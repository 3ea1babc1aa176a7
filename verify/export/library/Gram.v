(** What a proof object proves, in every inner-product space.

    A form is a sum of integers times inner products of named vectors and times named numbers. If a positive multiple of
    a target is a sum of nonnegative multiples of known forms minus nonnegative multiples of squares of combinations of
    the vectors, which [check] computes in integers, then the target is at most 0 wherever all known forms are. *)

From Coq Require Import Reals ZArith List Lra.
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

(** Tables of values by positive keys, in which entries are summed. *)
Inductive tree (A : Type) := Leaf | Node (l : tree A) (a : option A) (r : tree A).
Arguments Leaf {A}.
Arguments Node {A}.

Section Trees.
Variable A : Type.

Fixpoint update (f : option A -> A) (k : positive) (t : tree A) : tree A :=
  match t, k with
  | Leaf, xH => Node Leaf (Some (f None)) Leaf
  | Leaf, xO k => Node (update f k Leaf) None Leaf
  | Leaf, xI k => Node Leaf None (update f k Leaf)
  | Node l a r, xH => Node l (Some (f a)) r
  | Node l a r, xO k => Node (update f k l) a r
  | Node l a r, xI k => Node l a (update f k r)
  end.

Definition at_most_one (g : A -> R) (a : option A) : R := match a with Some a => g a | None => 0 end.

Fixpoint total (g : positive -> A -> R) (t : tree A) : R :=
  match t with
  | Leaf => 0
  | Node l a r => total (fun k => g (xO k)) l + at_most_one (g xH) a + total (fun k => g (xI k)) r
  end.

Lemma total_update : forall (f : option A -> A) (d : R) k (g : positive -> A -> R) t,
  (forall a, g k (f a) = at_most_one (g k) a + d) -> total g (update f k t) = total g t + d.
Proof.
  intros f d; induction k; intros g [|l a r] H; cbn [update total at_most_one].
  - rewrite (IHk (fun k => g (xI k))) by exact H; cbn; lra.
  - rewrite (IHk (fun k => g (xI k))) by exact H; lra.
  - rewrite (IHk (fun k => g (xO k))) by exact H; cbn; lra.
  - rewrite (IHk (fun k => g (xO k))) by exact H; lra.
  - rewrite H; cbn; lra.
  - rewrite H; lra.
Qed.

Fixpoint every (p : A -> bool) (t : tree A) : bool :=
  match t with
  | Leaf => true
  | Node l a r => every p l && match a with Some a => p a | None => true end && every p r
  end.

Lemma total_zero : forall (p : A -> bool) t (g : positive -> A -> R),
  (forall k a, p a = true -> g k a = 0) -> every p t = true -> total g t = 0.
Proof.
  intros p; induction t as [|l IHl a r IHr]; intros g Hg H; cbn in *; [reflexivity|].
  apply andb_prop in H as [H Hr]; apply andb_prop in H as [Hl Ha].
  rewrite (IHl (fun k => g (xO k))), (IHr (fun k => g (xI k))) by (auto; intros; apply Hg; assumption).
  destruct a; cbn; [rewrite Hg by assumption|]; lra.
Qed.
End Trees.

Arguments update {A}.
Arguments total {A}.
Arguments every {A}.

(** Forms: products of vectors, by their two numbers, and values, by theirs. *)
Record form := { products : list (positive * positive * Z); values : list (positive * Z) }.
Record sums := { gram : tree (tree Z); linear : tree Z }.
Definition nothing := {| gram := Leaf; linear := Leaf |}.

Definition plus_to (c : Z) (a : option Z) : Z := match a with Some a => (a + c)%Z | None => c end.
Definition add_product (i j : positive) (c : Z) (s : sums) : sums :=
  let (i, j) := if (i <=? j)%positive then (i, j) else (j, i) in
  {| gram := update (fun t => update (plus_to c) j (match t with Some t => t | None => Leaf end)) i s.(gram);
     linear := s.(linear) |}.
Definition add_value (k : positive) (c : Z) (s : sums) : sums :=
  {| gram := s.(gram); linear := update (plus_to c) k s.(linear) |}.

Definition add_form (w : Z) (f : form) (s : sums) : sums :=
  fold_right (fun e s => let '(k, c) := e in add_value k (w * c)%Z s)
    (fold_right (fun e s => let '(i, j, c) := e in add_product i j (w * c)%Z s) s f.(products)) f.(values).

(** A combination of vectors, and the square of one. *)
Definition combination := list (positive * Z).
Definition add_square (w : Z) (v : combination) (s : sums) : sums :=
  fold_right (fun a s => let '(i, x) := a in
    fold_right (fun b s => let '(j, y) := b in add_product i j (w * x * y)%Z s) s v) s v.

Definition all_zero (s : sums) : bool :=
  every (every (Z.eqb 0)) s.(gram) && every (Z.eqb 0) s.(linear).

(** [check]: m target = sum of weight known - sum of weight square, with m > 0 and all weights >= 0. *)
Definition check (m : Z) (target : form) (known : list (Z * form)) (squares : list (Z * combination)) : bool :=
  (0 <? m)%Z && forallb (fun k => 0 <=? fst k)%Z known && forallb (fun s => 0 <=? fst s)%Z squares &&
  all_zero (add_form m target
    (fold_right (fun s => add_square (fst s) (snd s))
      (fold_right (fun k => add_form (- fst k) (snd k)) nothing known) squares)).

Section Meaning.
Variable E : space.
Variable v : positive -> E.
Variable f : positive -> R.

Definition meaning_products := fold_right (fun e r => let '(i, j, c) := e in IZR c * inner (v i) (v j) + r) 0.
Definition meaning_values := fold_right (fun e r => let '(k, c) := e in IZR c * f k + r) 0.
Definition meaning (a : form) : R := meaning_products a.(products) + meaning_values a.(values).

Definition of_row (i j : positive) (c : Z) : R := IZR c * inner (v i) (v j).
Definition of_value (k : positive) (c : Z) : R := IZR c * f k.
Definition worth (s : sums) : R := total (fun i => total (of_row i)) s.(gram) + total of_value s.(linear).

Lemma worth_product : forall i j c s, worth (add_product i j c s) = worth s + IZR c * inner (v i) (v j).
Proof.
  intros i j c s; unfold add_product.
  assert (H : forall i j, worth {| gram := update (fun t => update (plus_to c) j
      (match t with Some t => t | None => Leaf end)) i s.(gram); linear := s.(linear) |}
    = worth s + IZR c * inner (v i) (v j)).
  { intros a b; unfold worth; cbn [gram linear].
    rewrite (total_update _ _ (IZR c * inner (v a) (v b))); [lra|].
    intros t; rewrite (total_update _ _ (IZR c * inner (v a) (v b))).
    - destruct t; cbn; lra.
    - intros [x|]; unfold of_row, plus_to, at_most_one; [rewrite plus_IZR|]; lra. }
  destruct (i <=? j)%positive; rewrite H; [|rewrite (inner_sym _ (v j))]; reflexivity.
Qed.

Lemma worth_value : forall k c s, worth (add_value k c s) = worth s + IZR c * f k.
Proof.
  intros k c s; unfold worth, add_value; cbn [gram linear].
  rewrite (total_update _ _ (IZR c * f k)); [lra|].
  intros [x|]; unfold of_value, plus_to, at_most_one; [rewrite plus_IZR|]; lra.
Qed.

Lemma worth_form : forall w a s, worth (add_form w a s) = worth s + IZR w * meaning a.
Proof.
  intros w [p l] s; unfold add_form, meaning; cbn [products values].
  assert (Hp : worth (fold_right (fun e s => let '(i, j, c) := e in add_product i j (w * c)%Z s) s p)
    = worth s + IZR w * meaning_products p).
  { induction p as [|[[i j] c] p IH]; cbn; [lra|].
    rewrite worth_product, mult_IZR; fold meaning_products; rewrite IH; ring. }
  induction l as [|[k c] l IH]; cbn; [rewrite Hp; lra|].
  rewrite worth_value, mult_IZR; fold meaning_values; rewrite IH; ring.
Qed.

Definition sum_of (c : combination) : E :=
  fold_right (fun e r => plus E (times E (IZR (snd e)) (v (fst e))) r) (zero E) c.

Lemma inner_sum : forall c y, inner (sum_of c) y = fold_right (fun e r => IZR (snd e) * inner (v (fst e)) y + r) 0 c.
Proof.
  intros c y; induction c as [|[i x] c IH]; cbn; [apply inner_zero|].
  rewrite inner_plus, inner_times, <- IH; reflexivity.
Qed.

Lemma worth_square : forall w c s, worth (add_square w c s) = worth s + IZR w * inner (sum_of c) (sum_of c).
Proof.
  intros w c s; unfold add_square.
  assert (Hrow : forall i x d s,
    worth (fold_right (fun b s => let '(j, y) := b in add_product i j (w * x * y)%Z s) s d)
    = worth s + IZR w * IZR x * inner (sum_of d) (v i)).
  { intros i x d; induction d as [|[j y] d IH]; intros t.
    - cbn; rewrite inner_zero; lra.
    - cbn [fold_right sum_of]; rewrite worth_product, IH, inner_plus, inner_times, !mult_IZR.
      cbn [fst snd]; fold (sum_of d); rewrite (inner_sym _ (v i)); ring. }
  assert (H : forall d, worth (fold_right (fun a s => let '(i, x) := a in
      fold_right (fun b s => let '(j, y) := b in add_product i j (w * x * y)%Z s) s c) s d)
    = worth s + IZR w * inner (sum_of d) (sum_of c)).
  { induction d as [|[i x] d IH].
    - cbn; rewrite inner_zero; lra.
    - cbn [fold_right]; rewrite Hrow, IH; cbn [sum_of fold_right fst snd]; fold (sum_of d).
      rewrite inner_plus, inner_times, (inner_sym _ (v i)); ring. }
  apply H.
Qed.

Lemma zero_worth : forall s, all_zero s = true -> worth s = 0.
Proof.
  intros s H; unfold worth; apply andb_prop in H as [Hg Hl].
  assert (Z0 : forall c r, Z.eqb 0 c = true -> IZR c * r = 0).
  { intros c r E0; apply Z.eqb_eq in E0; subst; lra. }
  rewrite (total_zero _ (every (Z.eqb 0))), (total_zero _ (Z.eqb 0)); auto; [lra| |].
  - intros k a; apply Z0.
  - intros k a Ha; apply (total_zero _ (Z.eqb 0)); auto; intros; apply Z0; assumption.
Qed.

Theorem sound : forall m target known squares, check m target known squares = true ->
  Forall (fun k => meaning (snd k) <= 0) known -> meaning target <= 0.
Proof.
  intros m target known squares H Hk; unfold check in H.
  apply andb_prop in H as [H Hz]; apply andb_prop in H as [H Hs]; apply andb_prop in H as [Hm Hw].
  apply Z.ltb_lt, IZR_lt in Hm; apply zero_worth in Hz; rewrite worth_form in Hz.
  set (s := fold_right _ _ squares) in Hz.
  enough (0 <= worth s) by (apply Rnot_lt_le; intro; apply (Rlt_irrefl 0);
    apply Rlt_le_trans with (IZR m * meaning target); [apply Rmult_lt_0_compat; lra|lra]).
  unfold s; clear s Hz; induction squares as [|[w c] squares IH]; cbn [fold_right fst snd] in *.
  - induction known as [|[w k] known IH]; cbn [fold_right fst snd] in *.
    + unfold worth; cbn; lra.
    + apply andb_prop in Hw as [Hw0 Hw]; inversion Hk; subst; cbn [fst snd] in *.
      rewrite worth_form; apply Z.leb_le, IZR_le in Hw0; rewrite opp_IZR.
      specialize (IH Hw H2); assert (IZR w * meaning k <= 0); [|lra].
      rewrite <- (Rmult_0_r (IZR w)); apply Rmult_le_compat_l; lra.
  - cbn [forallb fst] in Hs; apply andb_prop in Hs as [Hw0 Hs]; apply Z.leb_le, IZR_le in Hw0.
    rewrite worth_square; specialize (IH Hs).
    assert (0 <= IZR w * inner (sum_of c) (sum_of c)) by (apply Rmult_le_pos; [lra|apply inner_pos]); lra.
Qed.
End Meaning.

(** How what is read is what is checked: a positive multiple. *)
Lemma nonpositive : forall a b m, a = m * b -> 0 < m -> a <= 0 -> b <= 0.
Proof.
  intros a b m H Hm Ha; apply Rnot_lt_le; intro; apply (Rlt_irrefl 0).
  apply Rlt_le_trans with (m * b); [apply Rmult_lt_0_compat; assumption|lra].
Qed.

Lemma multiple : forall a b m, a = m * b -> 0 < m -> b <= 0 -> a <= 0.
Proof.
  intros a b m H Hm Hb; rewrite H, <- (Rmult_0_r m); apply Rmult_le_compat_l; lra.
Qed.
