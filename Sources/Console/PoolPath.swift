import HTTP
import Identity

/// The path of a page that every pool has: below the project, or below one of its tenants.
///
/// A parameter pack can't follow other parameters (Swift 6.3.1), so there's an extension for each
/// number of parameters.
struct PoolPath<OfProject: Sendable, OfTenant: Sendable>: Sendable {
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

typealias PoolPath0 = PoolPath<Path<String>, Path<String, String>>
typealias PoolPath1 = PoolPath<Path<String, String>, Path<String, String, String>>
typealias PoolPath2 = PoolPath<Path<String, String, String>, Path<String, String, String, String>>

extension PoolPath0 {
  /// Creates the path from what follows the address of the pool.
  init(_ words: PathComponent...) {
    self.init(
      Path(Self.project(words), parameters: String.self),
      Path(Self.tenant(words), parameters: String.self, String.self))
  }

  func callAsFunction(_ pool: Pool) -> String { self(pool.project, pool.tenant) }

  func callAsFunction(_ project: ID<Project>, _ tenant: ID<Tenant>?) -> String {
    guard let tenant else { return ofProject(project.text) }
    return ofTenant(project.text, tenant.text)
  }
}

extension PoolPath1 {
  init(_ words: PathComponent...) {
    self.init(
      Path(Self.project(words), parameters: String.self, String.self),
      Path(Self.tenant(words), parameters: String.self, String.self, String.self))
  }

  func callAsFunction(_ pool: Pool, _ one: String) -> String {
    guard let tenant = pool.tenant else { return ofProject(pool.project.text, one) }
    return ofTenant(pool.project.text, tenant.text, one)
  }
}

extension PoolPath2 {
  init(_ words: PathComponent...) {
    self.init(
      Path(Self.project(words), parameters: String.self, String.self, String.self),
      Path(Self.tenant(words), parameters: String.self, String.self, String.self, String.self))
  }

  func callAsFunction(_ pool: Pool, _ one: String, _ other: String) -> String {
    guard let tenant = pool.tenant else { return ofProject(pool.project.text, one, other) }
    return ofTenant(pool.project.text, tenant.text, one, other)
  }
}

/// The paths of the console, which routes match and pages link to: each feature declares its own.
enum ConsolePaths {}
