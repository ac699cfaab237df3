import Crypto
import OpenIDConnect
import TestProvider
import Testing

@testable import Identity

extension Instance {
  static let redirect = "https://mfa.example.com/sign-in/provider/callback"

  /// The provider's settings with the roles of groups.
  static func consoleProvider(_ roles: [GroupRole] = [owners]) -> ConsoleProvider {
    var provider = ConsoleProvider()
    (provider.name, provider.issuer) = ("Example ID", TestProvider.issuer)
    (provider.clientID, provider.roles) = (TestProvider.clientID, roles)
    return provider
  }

  static let owners = GroupRole(group: "admins", grant: Grant(role: .owner))

  /// Sets the provider up, by an owner who just re-authenticated.
  @discardableResult
  func setUpProvider(
    _ roles: [GroupRole] = [owners], secret: Secret? = Secret("s3cret"),
    mfaValues: [String] = ConsoleProvider().mfaValues
  ) async throws -> Agent {
    let owner = try await agent("olga", role: .owner)
    var provider = Self.consoleProvider(roles)
    provider.mfaValues = mfaValues
    _ = try await identity.consoleProviders.save(
      provider, secret: secret, owner.request(nil, note: "Single sign-on"))
    return owner
  }

  /// Signs in at the provider and returns with its answer.
  func visit(
    in session: ConsoleSession? = nil, devices: [String] = []
  ) async throws -> ProviderSignIn {
    let (start, answer) = try await leave(in: session)
    return try await come(start, answer, session: session, devices: devices)
  }

  /// Signs in at the provider, and doesn't return yet.
  func leave(
    in session: ConsoleSession? = nil
  ) async throws -> (start: ProviderStart, answer: (state: String, code: String)) {
    let start = try await identity.consoleProviders.begin(in: session, redirect: Self.redirect)
    return (start, try provider.signIn(at: start.address))
  }

  /// Returns with an answer of the provider.
  func come(
    _ start: ProviderStart, _ answer: (state: String, code: String),
    session: ConsoleSession? = nil, devices: [String] = []
  ) async throws -> ProviderSignIn {
    try await identity.consoleProviders.finish(
      ProviderAnswer(state: answer.state, code: answer.code, error: nil, issuer: nil),
      ticket: start.ticket.revealedText, session: session, redirect: Self.redirect,
      from: SignInOrigin(
        address: "192.0.2.7", userAgent: "Browser", devices: devices, requestID: "request-6"))
  }

  /// Signs an administrator in with the provider.
  func providerSession() async throws -> ConsoleSession {
    guard case .signedIn(let new) = try await visit() else {
      throw Unexpected("not signed in")
    }
    return try #require(
      try await identity.consoleSessions.find(token: new.token.revealedText))
  }

  /// Links an administrator with the person at the provider, in a new session.
  @discardableResult
  func link(_ administrator: Administrator) async throws -> ConsoleSession {
    let session = try await giveConsolePassword(administrator).session.session
    guard case .confirmed(let renewed, isLinked: true, _) = try await visit(in: session) else {
      throw Unexpected("not linked")
    }
    return renewed.session
  }

  /// Turns password sign-in off for everyone except an account, in a session that began with the
  /// provider.
  @discardableResult
  func turnOffPasswords(
    except account: ID<Administrator>, _ session: ConsoleSession
  ) async throws -> Bool {
    var provider = try #require(try await identity.consoleProviders.find())
    provider.breakGlassAccount = account
    return try await identity.consoleProviders.save(
      provider, secret: nil,
      request(session.administrator, session, note: "Single sign-on")
    ).value
  }

  func grants(of id: ID<Administrator>) async throws -> Set<Grant> {
    Set(try await identity.administrators.record(id).administrator.grants)
  }
}
