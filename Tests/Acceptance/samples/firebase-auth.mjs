// The functions of the web SDK that the guides' samples call, over the REST calls that it sends.

class AuthError extends Error {
  constructor(message, data) {
    const [code] = message.split(" ");
    super(message);
    this.code = CODES[code] ?? `auth/${code.toLowerCase().replaceAll("_", "-")}`;
    this.data = data;
  }
}

const CODES = {
  INVALID_CODE: "auth/invalid-verification-code",
  CREDENTIAL_TOO_OLD_LOGIN_AGAIN: "auth/requires-recent-login",
  TOKEN_EXPIRED: "auth/user-token-expired",
  INVALID_PENDING_TOKEN: "auth/invalid-credential",
  INVALID_LOGIN_CREDENTIALS: "auth/invalid-credential",
};

async function call(auth, path, body, form) {
  const response = await fetch(`${auth.address}/${path}?key=${auth.key}`, {
    method: "POST",
    headers: { "Content-Type": form ? "application/x-www-form-urlencoded" : "application/json" },
    body: form ? new URLSearchParams(body) : JSON.stringify(body),
  });
  const answer = await response.json();
  if (answer.error) throw new AuthError(answer.error.message);
  return answer;
}

const payload = (token) => JSON.parse(Buffer.from(token.split(".")[1], "base64url"));

export function getAuth(app) {
  return { key: app.apiKey, settings: {}, tenantId: null, currentUser: null, listeners: [] };
}

export function connectAuthEmulator(auth, address) {
  auth.address = address;
}

export function onIdTokenChanged(auth, listener) {
  auth.listeners.push(listener);
}

function notify(auth) {
  for (const listener of auth.listeners) listener(auth.currentUser);
}

class User {
  constructor(auth) {
    this.auth = auth;
  }

  update(answer) {
    const token = answer.idToken ?? answer.id_token;
    if (!token) return;
    [this.token, this.refreshToken] = [token, answer.refreshToken ?? answer.refresh_token];
    notify(this.auth);
  }

  async reload() {
    const answer = await call(this.auth, "v1/accounts:lookup", { idToken: this.token });
    const [user] = answer.users;
    this.email = user.email;
    this.emailVerified = user.emailVerified;
    this.providerData = user.providerUserInfo;
    this.factors = (user.mfaInfo ?? []).map(factor);
  }

  async getIdToken(isForced = false) {
    if (isForced) {
      const form = { grant_type: "refresh_token", refresh_token: this.refreshToken };
      this.update(await call(this.auth, "v1/token", form, true));
    }
    return this.token;
  }

  async getIdTokenResult() {
    return { token: this.token, claims: payload(this.token) };
  }
}

function factor(info) {
  return {
    uid: info.mfaEnrollmentId, displayName: info.displayName, enrollmentTime: info.enrolledAt,
    factorId: info.totpInfo ? "totp" : "phone",
  };
}

async function begin(auth, answer, user = new User(auth)) {
  auth.currentUser = user;
  [user.token, user.refreshToken] = [answer.idToken, answer.refreshToken];
  await user.reload();
  notify(auth);
  return { user };
}

// A user who re-authenticates stays the same object.
async function signInWith(auth, path, body, user) {
  const more = { returnSecureToken: true, ...(auth.tenantId && { tenantId: auth.tenantId }) };
  const answer = await call(auth, path, { ...body, ...more });
  if (!("mfaPendingCredential" in answer)) return begin(auth, answer, user);
  throw new AuthError("multi-factor-auth-required", { ...answer, user });
}

export function signInWithEmailAndPassword(auth, email, password) {
  return signInWith(auth, "v1/accounts:signInWithPassword", { email, password });
}

export const EmailAuthProvider = {
  credential: (email, password) => ["v1/accounts:signInWithPassword", { email, password }],
  credentialWithLink: (email, link) => [
    "v1/accounts:signInWithEmailLink",
    { email, oobCode: new URL(link).searchParams.get("oobCode") },
  ],
};

export class OAuthProvider {
  constructor(id) {
    this.id = id;
  }

  credential({ idToken }) {
    const postBody = new URLSearchParams({ id_token: idToken, providerId: this.id }).toString();
    return ["v1/accounts:signInWithIdp", { postBody, requestUri: "http://localhost" }];
  }
}

export function reauthenticateWithCredential(user, [path, body]) {
  return signInWith(user.auth, path, body, user);
}

export async function signOut(auth) {
  auth.currentUser = null;
  notify(auth);
}

export function getMultiFactorResolver(auth, error) {
  const session = error.data.mfaPendingCredential;
  return {
    hints: error.data.mfaInfo.map(factor), session,
    resolveSignIn: async (assertion) => {
      const body = {
        mfaPendingCredential: session, ...assertion,
        ...(auth.tenantId && { tenantId: auth.tenantId }),
      };
      const answer = await call(auth, "v2/accounts/mfaSignIn:finalize", body);
      return begin(auth, answer, error.data.user);
    },
  };
}

export function multiFactor(user) {
  return {
    enrolledFactors: user.factors,
    getSession: async () => user,
    enroll: async (assertion, displayName) => {
      const body = { idToken: user.token, displayName, ...assertion };
      user.update(await call(user.auth, "v2/accounts/mfaEnrollment:finalize", body));
      await user.reload();
    },
    unenroll: async ({ uid }) => {
      const body = { idToken: user.token, mfaEnrollmentId: uid };
      user.update(await call(user.auth, "v2/accounts/mfaEnrollment:withdraw", body));
      await user.reload();
    },
  };
}

export const TotpMultiFactorGenerator = {
  FACTOR_ID: "totp",
  generateSecret: async (user) => {
    const body = { idToken: user.token, totpEnrollmentInfo: {} };
    const { totpSessionInfo } = await call(user.auth, "v2/accounts/mfaEnrollment:start", body);
    return {
      secretKey: totpSessionInfo.sharedSecretKey, sessionInfo: totpSessionInfo.sessionInfo,
      generateQrCodeUrl: (account, issuer) =>
        `otpauth://totp/${issuer}:${account}?secret=${totpSessionInfo.sharedSecretKey}`,
    };
  },
  assertionForEnrollment: (secret, verificationCode) => (
    { totpVerificationInfo: { sessionInfo: secret.sessionInfo, verificationCode } }),
  assertionForSignIn: (uid, verificationCode) => (
    { mfaEnrollmentId: uid, totpVerificationInfo: { verificationCode } }),
};

export const PhoneMultiFactorGenerator = {
  FACTOR_ID: "phone",
  assertion: ([sessionInfo, code]) => ({ phoneVerificationInfo: { sessionInfo, code } }),
};

export class RecaptchaVerifier {}

export class PhoneAuthProvider {
  constructor(auth) {
    this.auth = auth;
  }

  static credential(id, code) {
    return [id, code];
  }

  async verifyPhoneNumber({ multiFactorHint, session }) {
    const answer = await call(this.auth, "v2/accounts/mfaSignIn:start", {
      mfaPendingCredential: session, mfaEnrollmentId: multiFactorHint.uid,
      phoneSignInInfo: { captchaResponse: "NO_RECAPTCHA" },
    });
    return answer.phoneResponseInfo.sessionInfo;
  }
}
