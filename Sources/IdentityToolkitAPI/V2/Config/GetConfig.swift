import Identity
import JSON

extension Methods {
  /// `GET projects/{p}/config`.
  func getConfig(_ call: AdminCall) async throws(WireError) -> JSON {
    ConfigMessage.write(try await project(call.scope.project))
  }
}
