@testable import Identity

extension PolicyOutcome {
  /// The policy that's in force now.
  var policy: Policy {
    switch self {
    case .changed(let policy), .waiting(let policy, _): policy
    case .requested: preconditionFailure("the pool is connected")
    }
  }
}

extension Reviews {
  /// Returns the latest sign-offs of a project, newest first.
  func signOffs(of project: ID<Project>) async throws -> [SignOff] {
    try await store.read { try Self.signOffs(of: project, limit: 10, $0) }
  }
}
