import Crypto
import Foundation
import Identity
import TestDatabases

/// A database with two companies, created once and copied for each test, because generating a
/// signing key takes longer than most tests.
///
/// - Acme has the project `acme-app` with the tenants East and West.
/// - Globex has the project `globex-app`.
///
/// All four pools allow passwords and have TOTP enabled, with adjacent intervals unset.
struct Template: Sendable {
  let database: DatabaseTemplate
  let keys: KeyRing
  let east: ID<Tenant>
  let west: ID<Tenant>

  static let acme = ID<Project>("acme-app")
  static let globex = ID<Project>("globex-app")

  static let shared = Task { try await make() }

  private static func make() async throws -> Template {
    let keys = KeyRing(random: .system)
    let (template, tenants) = try await DatabaseTemplate.make { database in
      let identity = try Identity(
        database: database, keys: keys, profile: .standalone, hasher: .cheap, mail: TestMail.writer,
        clock: FixedClock().wall, random: Dice(seed: 1).source)
      try await identity.prepare()
      let author = Author(actor: .commandLine)
      for id in [acme, globex] {
        let name = id == acme ? "Acme" : "Globex"
        let project = try await identity.pools.createProject(
          id: id.text, displayName: name, by: .program(author)
        ).value
        _ = try await identity.policies.change(project.pool, by: .program(author)) { edit in
          edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: nil)
        }
      }
      var tenants: [ID<Tenant>] = []
      for name in ["East", "West"] {
        let edit = PoolEdit(
          displayName: name,
          signIn: SignInMethods(password: true, emailLink: false, anonymous: false),
          configuration: MFAConfiguration(
            totp: TOTPConfiguration(state: .enabled, adjacentIntervals: nil)))
        let tenant = try await identity.pools.createTenant(in: acme, edit, by: .program(author))
          .value
        tenants.append(ID(tenant.pool.objectID))
      }
      return tenants
    }
    return Template(database: template, keys: keys, east: tenants[0], west: tenants[1])
  }
}

extension PasswordHasher {
  /// A hasher with minimal cost and a long queue.
  static var cheap: PasswordHasher {
    PasswordHasher(width: 2, waiting: 1_000, cost: PasswordHash.Cost(memory: 64, passes: 1))
  }
}

/// Runs a body with a temporary folder that is deleted afterwards.
func withFolder<T>(_ body: (String) async throws -> T) async throws -> T {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder.path)
}
