import Identity
import JSON

extension Declaration {
  static let initializeAuth = Declaration(
    "projects.identityPlatform.initializeAuth",
    "Does nothing, because every project can be configured.", takes: [:], gives: [:],
    failing: [404])
}

extension Methods {
  /// `POST projects/{p}/identityPlatform:initializeAuth`, with which Terraform begins to configure a
  /// project.
  func initializeAuth(_ call: AdminCall) async throws -> JSON { [:] }
}
