// Creates passkeys and signs in with them. Only pages about passkeys load this script.
(() => {
  "use strict";
  const fields = document.querySelector("[data-passkey]");
  if (!fields) return;
  const form = fields.closest("form"), texts = fields.dataset;
  const problem = fields.querySelector("[role=alert]");
  const decode = (text) => Uint8Array.from(
    atob(text.replace(/-/g, "+").replace(/_/g, "/")), (character) => character.charCodeAt(0));
  const encode = (buffer) => buffer
    ? btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "")
    : "";
  const say = (text) => { problem.textContent = text; problem.hidden = !text; };
  const credentials = texts.credentials.split(" ").filter(Boolean)
    .map((id) => ({ type: "public-key", id: decode(id) }));
  const challenge = decode(texts.challenge);

  const create = () => navigator.credentials.create({ publicKey: {
    challenge,
    rp: { id: texts.host, name: "Countersign" },
    user: { id: new TextEncoder().encode(texts.user), name: texts.email, displayName: texts.name },
    pubKeyCredParams: texts.algorithms.split(" ").map((alg) => ({ type: "public-key", alg: Number(alg) })),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    excludeCredentials: credentials, attestation: "none", timeout: 300000,
  } });
  const get = () => navigator.credentials.get({ publicKey: {
    challenge, rpId: texts.host, allowCredentials: credentials, userVerification: "required", timeout: 300000,
  } });

  const fill = ({ rawId, response }) => {
    const values = {
      "credential": encode(rawId), "client-data": encode(response.clientDataJSON),
      "attestation": encode(response.attestationObject),
      "authenticator-data": encode(response.authenticatorData), "signature": encode(response.signature),
      "user-handle": encode(response.userHandle),
      "transports": response.getTransports ? response.getTransports().join(" ") : "",
    };
    for (const [name, value] of Object.entries(values)) {
      if (form.elements[name]) form.elements[name].value = value;
    }
  };

  let isBusy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isBusy) return;
    if (!window.PublicKeyCredential) { say(texts.unsupported); return; }
    isBusy = true;
    say("");
    try {
      fill(await (texts.passkey === "create" ? create() : get()));
      form.submit();
    } catch (error) {
      isBusy = false;
      say(error.name === "InvalidStateError" ? texts.known : texts.cancelled);
    }
  });
})();
