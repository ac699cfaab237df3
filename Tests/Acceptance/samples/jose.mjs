// The two functions of jose that the guides' samples call, with Node's own cryptography.

import { createPublicKey, verify } from "node:crypto";

export function createRemoteJWKSet(url) {
  return async (id) => {
    const { keys } = await (await fetch(url)).json();
    return keys.find((key) => key.kid === id);
  };
}

export async function jwtVerify(token, keyOf, { algorithms, requiredClaims, issuer, audience }) {
  const [head, body, signature] = token.split(".");
  const read = (part) => JSON.parse(Buffer.from(part, "base64url"));
  const [header, payload] = [read(head), read(body)];
  if (!algorithms.includes(header.alg)) throw new Error("algorithm");
  const key = createPublicKey({ key: await keyOf(header.kid), format: "jwk" });
  const isValid = verify(
    "sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url"));
  if (!isValid) throw new Error("signature");
  for (const name of requiredClaims) if (!(name in payload)) throw new Error(name);
  if (payload.iss !== issuer || payload.aud !== audience) throw new Error("issuer or audience");
  if (payload.exp <= Date.now() / 1000) throw new Error("expired");
  return { payload };
}
