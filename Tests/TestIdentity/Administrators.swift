import Crypto
import Identity

extension Instance {
  static let consolePassword = Secret("a long pass phrase")

  /// Creates an administrator of the whole instance.
  func administrator(_ role: Role = .owner) async throws -> Administrator {
    try await identity.administrators.create(
      email: "dora@example.com", displayName: "Dora", password: Self.consolePassword,
      grant: Grant(role: role), by: Author(actor: .commandLine))
  }

  func consoleSession() async throws -> NewConsoleSession {
    try await identity.consoleSessions.signIn(
      email: "dora@example.com", password: Self.consolePassword, address: "a", userAgent: "Browser"
    ).session
  }
}
