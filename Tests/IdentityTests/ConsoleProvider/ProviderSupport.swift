import Crypto
import OpenIDConnect
import TestProvider
import Testing

@testable import Identity

extension Instance {
  static let redirect = "https://mfa.example.com/sign-in/provider/callback"

  /// The provider's settings with the roles of groups.
  static func consoleProvider(_ roles: [GroupRole] = [owners]) -> ConsoleProvider {
    ConsoleProvider(
      name: "Example ID", issuer: TestProvider.issuer, clientID: TestProvider.clientID,
      roles: roles)
  }

  static let owners = GroupRole(group: "admins", grant: Grant(role: .owner))

  /// Sets the provider up, by an owner who just re-authenticated.
  @discardableResult
  func setUpProvider(
    _ roles: [GroupRole] = [owners], secret: Secret? = Secret("s3cret"), isConfirmed: Bool = false,
    mfaValues: [String] = ConsoleProvider.usualMFAValues
  ) async throws -> Agent {
    let owner = try await agent("olga", role: .owner)
    var provider = Self.consoleProvider(roles)
    provider.mfaValues = mfaValues
    _ = try await identity.consoleProviders.save(
      provider, secret: secret, isConfirmed: isConfirmed,
      owner.request(nil, note: "Single sign-on"))
    return owner
  }

  /// Signs in at the provider and returns with its answer.
  func visit(
    _ purpose: ProviderPurpose = .signIn, devices: [String] = []
  ) async throws -> ProviderSignIn {
    let (start, answer) = try await leave(purpose)
    return try await come(start, answer, session: purpose.session, devices: devices)
  }

  /// Signs in at the provider, and doesn't return yet.
  func leave(
    _ purpose: ProviderPurpose = .signIn
  ) async throws -> (start: ProviderStart, answer: (state: String, code: String)) {
    let start = try await identity.consoleProviders.begin(purpose, redirect: Self.redirect)
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
    guard case .linked(let renewed) = try await visit(.link(session)) else {
      throw Unexpected("not linked")
    }
    return renewed.session
  }

  func grants(of id: ID<Administrator>) async throws -> Set<Grant> {
    Set(try await identity.administrators.record(id).administrator.grants)
  }
}
