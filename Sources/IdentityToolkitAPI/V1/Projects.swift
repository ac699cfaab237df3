import Identity
import JSON

extension Methods {
  static let getProject = Declaration(
    "getProjects", "Returns the public settings of an API key's project.",
    gives: ["projectId": .text.required, "authorizedDomains": .list(.text).required])
  static let getProjectOfAdmin = Declaration(
    "projects.get", "Returns the public settings and sign-in methods of a project.",
    gives: [
      "projectId": .text.required, "authorizedDomains": .list(.text).required,
      "allowPasswordUser": .flag.required, "enableAnonymousUser": .flag.required,
    ], failing: [404])

  /// `GET /v1/projects`: returns what a client can see of its API key's project.
  func getProject(_ call: ClientCall) async throws -> JSON {
    .object(Self.shown(try await settings(call.project, nil)))
  }

  /// `GET /v1/projects/{p}`: returns the same for a backend, with the sign-in methods in the
  /// format of version 3.
  func getProject(_ call: AdminCall) async throws -> JSON {
    let settings = try await settings(of: call)
    var answer = Self.shown(settings)
    answer.append("allowPasswordUser", .bool(settings.signIn.password))
    answer.append("enableAnonymousUser", .bool(settings.signIn.anonymous))
    return .object(answer)
  }

  private static func shown(_ settings: PoolSettings) -> JSON.Object {
    [
      "projectId": .string(String(settings.pool.projectNumber)),
      "authorizedDomains": .array(
        (settings.project?.authorizedDomains ?? []).map { .string($0) }),
    ]
  }
}
