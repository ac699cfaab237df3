import Crypto
import Database
import OTP
import TestAuthenticator
import Testing
import WebAuthn

@testable import Identity

extension Instance {
  /// The site of the console.
  static var party: RelyingParty {
    get throws {
      try #require(
        RelyingParty(
          origin: "https://mfa.example.com", host: "mfa.example.com", isSecure: true))
    }
  }

  /// The secret of a browser that isn't signed in.
  static let browser = "0123456789abcdef0123456789abcdef"
  static let signInOrigin = SignInOrigin(
    address: "192.0.2.7", userAgent: "Browser", requestID: "request-5")

  /// Adds a passkey in a session.
  func addPasskey(
    _ authenticator: TestAuthenticator, named name: String = "Laptop",
    in session: ConsoleSession, password: Secret? = nil
  ) async throws -> Passkey {
    try await newPasskey(authenticator, named: name, in: session, password: password).passkey
  }

  /// Adds a passkey in a session, with recovery codes if it's the only second factor.
  func newPasskey(
    _ authenticator: TestAuthenticator, named name: String = "Laptop",
    in session: ConsoleSession, password: Secret? = nil
  ) async throws -> NewPasskey {
    let challenge = try await identity.passkeys.begin(for: session)
    let response = authenticator.register(challenge.bytes, for: try Self.party)
    return try await identity.passkeys.create(
      response, ticket: challenge.ticket.revealedText, name: name, transports: ["usb", "x"],
      password: password, in: session, for: Self.party, by: author(session.administrator))
  }

  /// What the authenticator and the browser return.
  func response(
    _ authenticator: TestAuthenticator, _ challenge: PasskeyChallenge,
    handle: ID<Administrator>? = nil
  ) throws -> PasskeyResponse {
    PasskeyResponse(
      credential: authenticator.id, userHandle: Array((handle?.text ?? "").utf8),
      assertion: try authenticator.signIn(challenge.bytes, for: Self.party))
  }

  /// Signs in with a passkey alone.
  func signIn(
    _ authenticator: TestAuthenticator, as handle: ID<Administrator>? = nil
  ) async throws -> ConsoleSession {
    let challenge = try identity.passkeys.beginSignIn(in: Self.browser)
    let owner = try await identity.administrators.records().first?.administrator.id
    let response = try response(authenticator, challenge, handle: handle ?? owner)
    return try await identity.passkeys.signIn(
      response, ticket: challenge.ticket.revealedText, in: Self.browser, for: Self.party,
      from: Self.signInOrigin
    ).session
  }

  /// Re-authenticates a session with a passkey.
  func reauthenticate(
    _ authenticator: TestAuthenticator, in session: ConsoleSession
  ) async throws -> ConsoleSession {
    let challenge = try await identity.passkeys.beginReauthentication(session)
    let response = try response(authenticator, challenge)
    return try await identity.passkeys.reauthenticate(
      response, ticket: challenge.ticket.revealedText, in: session, for: Self.party,
      by: author(session.administrator)
    ).session
  }

  /// Creates an owner whose only second factor is a passkey.
  func passkeyOwner(_ name: String) async throws -> (Administrator, TestAuthenticator) {
    let owner = try await administrator(name, .owner)
    let session = try await giveConsolePassword(owner).session.session
    let authenticator = try TestAuthenticator()
    _ = try await addPasskey(authenticator, in: session)
    return (owner, authenticator)
  }

  /// Sets up an authenticator app for a session's administrator, and returns the renewed session.
  func addApp(
    in session: ConsoleSession
  ) async throws -> (app: OwnDevice, session: ConsoleSession) {
    let factors = identity.administratorFactors
    let administrator = session.administrator
    let enrollment = try factors.begin(for: administrator)
    let app = try device(enrollment, of: administrator)
    let done = try await factors.finish(
      enrollment.ticket.revealedText, code: try TypedCode(app.code(at: now)), for: administrator.id,
      in: session, by: author(administrator))
    return (app, try #require(done.renewed).session)
  }

  /// Removes an administrator's password, as if the provider had created them.
  func removePassword(of administrator: Administrator) async throws {
    let id = administrator.id.text
    try await database.write { connection in
      _ = try connection.run(
        "UPDATE /* test */ administrator SET password_hash = '' WHERE administrator_id = \(id)")
    }
  }

  /// A request for an action in a session.
  func request(
    _ administrator: Administrator, _ session: ConsoleSession, note: String
  ) -> ActionRequest {
    ActionRequest(agent: session, author: author(administrator), note: note)
  }
}
