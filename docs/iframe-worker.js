// Browsers start no workers for pages that are opened as files: there a frame does what the worker of the search does.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.inner = this.frame.contentWindow;
      this.inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      const load = (source) => new Promise((done) => {
        const script = this.inner.document.createElement("script");
        script.src = source;
        script.onload = done;
        this.inner.document.body.append(script);
      });
      this.inner.importScripts = (...urls) => urls.reduce((before, one) => before.then(() => load(one)), Promise.resolve());
      load(url).then(() => {
        this.ready = true;
        this.waiting.forEach((data) => this.send(data));
      });
    }
    send(data) {
      this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
    }
    postMessage(data) {
      this.ready ? this.send(data) : this.waiting.push(data);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
