import Identity
import JSON

extension Declaration {
  static let getConfig = Declaration(
    "projects.getConfig", "Returns the configuration of a project.", gives: .config,
    failing: [404])
}

extension Methods {
  /// `GET projects/{p}/config`.
  func getConfig(_ call: AdminCall) async throws(WireError) -> JSON {
    try await write(try await project(call.scope.project))
  }

  /// Writes a configuration, with the API key that the project's applications use.
  func write(_ project: UserPool) async throws(WireError) -> JSON {
    do throws(APIKeyError) {
      let keys = try await identity.apiKeys.list(project.scope.project)
      return ConfigMessage.write(project, apiKey: keys.first?.text)
    } catch {
      throw WireError(error)
    }
  }
}
