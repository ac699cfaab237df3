import Identity
import JSON

extension Declaration {
  static let getConfig = Declaration(
    "projects.getConfig", "Returns the configuration of a project.", gives: .config,
    failing: [404])
}

extension Methods {
  /// `GET projects/{p}/config`.
  func getConfig(_ call: AdminCall) async throws -> JSON {
    ConfigMessage.write(try await settings(of: call), for: call.holder)
  }
}
