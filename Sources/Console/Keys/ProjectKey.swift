import Identity

/// The API key that pages put into samples and beside them.
///
/// It is the project's, with all its tenants, so only those see it who manage keys of the project;
/// a role in a tenant alone is not enough.
struct ProjectKey: Sendable {
  /// The oldest key; nil when there is none, and when it is not for the reader to see.
  let key: APIKey?
  /// Why there is no key, and who gives one; nil beside a key.
  let note: String?

  init(_ context: ScopeContext, _ keys: APIKeys) async throws(Refusal) {
    let project = context.scope.project
    guard context.signedIn.administrator.may(.manageKeys, project: project, tenant: nil) else {
      key = nil
      note = "An owner or policy admin of the project gives the API key."
      return
    }
    key = try await refusing { try await keys.list(project) }.first
    note = key == nil ? "The project has no API key; its settings make one." : nil
  }
}
