import Database
import DatabaseSQLite
@testable import Identity
import Testing
import Text

/// A support agent, with a session in the console.
struct Agent: Sendable {
  let session: ConsoleSession
  /// Their authenticator app; nil for one whose code is said to have been given just now.
  var device: OwnDevice?

  var administrator: Administrator { session.administrator }
  var author: Author { administrator.author(address: "198.51.100.7", requestID: "request-1") }

  /// What they give with an action.
  func request(
    _ reason: SupportReason? = .lost, note: String = "", ticket: String = "",
    proofs: Set<String> = [], code: String = "", typed: String = ""
  ) -> ActionRequest {
    ActionRequest(
      agent: session, author: author, reason: reason, note: note, ticket: ticket,
      proofs: Set(proofs.map { UntrustedText($0) }),
      proof: .code(code), typed: typed)
  }
}

extension Instance {
  /// A support agent who has just given a code of their own, so that none is asked for in the
  /// next quarter of an hour.
  ///
  /// The same name is the same person, in another session.
  func agent(
    _ name: String = "dora", role: Role = .support, project: ID<Project>? = nil
  ) async throws -> Agent {
    let email = "\(name)@desk.example.com"
    if try await thrown(
      ManagementError.self, { try await identity.administrators.record(email: email) })
      != nil
    {
      _ = try await identity.administrators.create(
        email: email, displayName: name == "dora" ? "Dora Support" : name,
        password: Self.consolePassword, grant: Grant(role: role, project: project),
        by: Author(actor: .commandLine))
    }
    let new = try await identity.consoleSessions.signIn(
      email: email, password: Self.consolePassword, address: "a", userAgent: "Browser"
    ).session
    try await prove(new.session)
    return Agent(session: new.session)
  }

  /// A support agent with an authenticator app of their own, who has just signed in with a code
  /// of it; half a minute passes twice.
  func agentWithDevice(_ name: String = "dev", role: Role = .support) async throws -> Agent {
    let device = try await enroll(try await administrator(name, role))
    let new = try await signIn(device)
    clock.advance(30)
    return Agent(session: new.session, device: device)
  }

  /// As if a code had just been given in a session.
  func prove(_ session: ConsoleSession) async throws {
    let now = now
    let id = session.administrator.id.text
    try await database.write { connection in
      _ = try connection.run(
        """
        UPDATE /* test */ console_session SET proved_at = \(now.microseconds)
        WHERE administrator_id = \(id)
        """)
    }
  }

  /// Purges one part of what was removed and cannot come back, as the server does by itself.
  ///
  /// True when there may be more.
  func purgePart() async throws -> Bool { try await identity.purgeRemovedFactors(at: now) }
}
