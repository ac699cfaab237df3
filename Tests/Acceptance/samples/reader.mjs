// What the samples' application brings: its pages, and the person in front of them.

import { createHmac } from "node:crypto";

const { EMAIL, PASSWORD } = process.env;
const shown = [];
let secretKey;
let step = Math.floor(Date.now() / 30_000);

function code() {
  const bits = [...secretKey].map((each) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(each).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step++)); // each code is accepted once
  const digest = createHmac("sha1", key).update(counter).digest();
  const number = digest.readUInt32BE(digest[19] & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

const page = {
  askForPassword: async () => PASSWORD,
  // The first attempt is wrong.
  askForCode: async (hint, isRetry) => (isRetry ? code() : "wrong"),
  askForFirstCode: async (isRetry) => ({ code: isRetry ? code() : "wrong", deviceName: "Pixel 9" }),
  show: (secret) => { secretKey = secret.secretKey; },
  showUnsupported: (hint) => { throw new Error(hint.factorId); },
  ask: async () => "now",
  thank: () => shown.push("thanks"),
};
const show = (name) => shown.push(name);
const showSignIn = () => shown.push("sign-in");
const claims = async () => (await auth.currentUser.getIdTokenResult()).claims.firebase;

function expect(isSo, what) {
  if (!isSo) throw new Error(`${what}: ${JSON.stringify(shown)}`);
}
