import HTTP
import Identity

/// The path of a page that every pool has: below the project, or below one of its tenants.
///
/// A parameter pack can't follow other parameters (Swift 6.3.1), so there's an extension for each
/// number of parameters.
struct ScopePath<OfProject: Sendable, OfTenant: Sendable>: Sendable {
  let ofProject: OfProject
  let ofTenant: OfTenant

  private init(_ ofProject: OfProject, _ ofTenant: OfTenant) {
    self.ofProject = ofProject
    self.ofTenant = ofTenant
  }

  private static func project(_ words: [PathComponent]) -> [PathComponent] {
    ["projects", nil] + words
  }

  private static func tenant(_ words: [PathComponent]) -> [PathComponent] {
    ["projects", nil, "tenants", nil] + words
  }
}

typealias ScopePath0 = ScopePath<Path<String>, Path<String, String>>
typealias ScopePath1 = ScopePath<Path<String, String>, Path<String, String, String>>
typealias ScopePath2 = ScopePath<Path<String, String, String>, Path<String, String, String, String>>

extension ScopePath0 {
  /// Creates the path from what follows the address of the pool.
  init(_ words: PathComponent...) {
    self.init(
      Path(Self.project(words), parameters: String.self),
      Path(Self.tenant(words), parameters: String.self, String.self))
  }

  func callAsFunction(_ scope: Scope) -> String {
    guard let tenant = scope.tenant else { return ofProject(scope.project.text) }
    return ofTenant(scope.project.text, tenant.text)
  }
}

extension ScopePath1 {
  init(_ words: PathComponent...) {
    self.init(
      Path(Self.project(words), parameters: String.self, String.self),
      Path(Self.tenant(words), parameters: String.self, String.self, String.self))
  }

  func callAsFunction(_ scope: Scope, _ one: String) -> String {
    guard let tenant = scope.tenant else { return ofProject(scope.project.text, one) }
    return ofTenant(scope.project.text, tenant.text, one)
  }
}

extension ScopePath2 {
  init(_ words: PathComponent...) {
    self.init(
      Path(Self.project(words), parameters: String.self, String.self, String.self),
      Path(Self.tenant(words), parameters: String.self, String.self, String.self, String.self))
  }

  func callAsFunction(_ scope: Scope, _ one: String, _ other: String) -> String {
    guard let tenant = scope.tenant else { return ofProject(scope.project.text, one, other) }
    return ofTenant(scope.project.text, tenant.text, one, other)
  }
}
