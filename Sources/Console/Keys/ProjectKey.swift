import Identity
import Localization

/// The API key that pages show in code samples.
///
/// The key is valid for the project and all its tenants, so only administrators who can manage the
/// project's keys see it; a role in a tenant isn't sufficient.
struct ProjectKey: Sendable {
  /// The oldest key; nil if there is none or the administrator can't see it.
  let key: APIKey?
  /// Explains why no key is shown and how to get one; nil if a key is shown.
  let note: Message?

  init(_ context: PoolContext, _ keys: APIKeys) async throws {
    let project = context.pool.project
    guard context.signedIn.administrator.may(.manageKeys, project: project, tenant: nil) else {
      key = nil
      note = Message(
        "For the API key, ask an administrator of the project with the {roles} role.",
        ["roles": Permission.manageKeys.roleNames])
      return
    }
    key = try await keys.list(project).first
    note = key == nil ? Message("This project has no API key. Create one in its settings.") : nil
  }
}
