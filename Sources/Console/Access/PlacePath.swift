import HTTP
import Identity
import Localization

/// A path below the address of a place, such as a pool, with the parameters that follow it.
struct PlacePath<Place: FormPlace, each Object: PathParameter>: Sendable {
  private let rest: Path<repeat each Object>

  /// Creates the path from what follows the address of the place.
  init(_ words: PathComponent...) {
    rest = Path(words, parameters: repeat (each Object).self)
  }

  private func link(below place: String, _ object: repeat each Object) -> String {
    components.isEmpty ? place : place + rest(repeat each object)
  }
}

typealias ProjectPath0 = PlacePath<ProjectContext>

typealias ProjectPath1 = PlacePath<ProjectContext, String>

typealias TenantPath0 = PlacePath<TenantContext>

typealias PoolPath0 = PlacePath<PoolContext>

typealias PoolPath1 = PlacePath<PoolContext, String>

typealias PoolPath2 = PlacePath<PoolContext, String, String>

extension PlacePath where Place == ProjectContext {
  func callAsFunction(_ project: String, _ object: repeat each Object) -> String {
    link(below: PoolAddress.ofProject(project), repeat each object)
  }
}

extension PlacePath where Place == TenantContext {
  func callAsFunction(_ pool: Pool, _ object: repeat each Object) -> String {
    link(below: pool.address, repeat each object)
  }
}

extension PlacePath where Place == PoolContext {
  func callAsFunction(_ pool: Pool, _ object: repeat each Object) -> String {
    link(below: pool.address, repeat each object)
  }

  func callAsFunction(
    _ project: ID<Project>, _ tenant: ID<Tenant>?, _ object: repeat each Object
  ) -> String {
    link(below: PoolAddress.of(project, tenant), repeat each object)
  }

  func ofProject(_ project: String, _ object: repeat each Object) -> String {
    link(below: PoolAddress.ofProject(project), repeat each object)
  }
}

extension PlacePath: FormPath {
  var components: [PathComponent] { rest.components }

  func link(_ objects: [String]) -> String { components.isEmpty ? "" : rest.link(objects) }
}

/// The addresses of pools, below which their pages are.
enum PoolAddress {
  static let ofProject = Path("projects", nil, parameters: String.self)
  private static let ofTenant = Path(
    "projects", nil, "tenants", nil, parameters: String.self, String.self)

  static func of(_ project: ID<Project>, _ tenant: ID<Tenant>?) -> String {
    tenant.map { ofTenant(project.text, $0.text) } ?? ofProject(project.text)
  }
}

extension Pool {
  /// The address below which the pool's pages are.
  var address: String { PoolAddress.of(project, tenant) }
}

/// The paths of the console, which routes match and pages link to: each feature declares its own,
/// and each form its own.
enum ConsolePaths {}

/// Links that open the review page of a change directly, without the form.
enum PolicyLinks {
  static func turnOn(_ policy: String) -> String { policy + "?change=on" }
  static func likeProject(_ policy: String) -> String { policy + "?change=project" }

  static func undo(_ policy: Policy) -> Link {
    let form: Form = ["change": "undo", "version": String(policy.version)]
    return Link(
      text: Message("Undo"), href: form.query(of: ConsolePaths.policy(policy.pool)))
  }
}
