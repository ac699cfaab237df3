import Identity
import JSON

extension Methods {
  /// `GET /v1/projects`: what a client may know of the project of its API key.
  func getProject(_ call: ClientCall) async throws(WireError) -> JSON {
    let project = try await project(call.project)
    return [
      "projectId": .string(String(project.number)),
      "authorizedDomains": .array(project.authorizedDomains.map { .string($0) }),
    ]
  }
}
