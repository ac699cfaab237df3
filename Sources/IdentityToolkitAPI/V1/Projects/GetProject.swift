import Identity
import JSON

extension Declaration {
  static let getProject = Declaration(
    "getProjects", "Reads what a client may know of the project of its key.",
    gives: ["projectId": .text.required, "authorizedDomains": .list(.text).required])
}

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
