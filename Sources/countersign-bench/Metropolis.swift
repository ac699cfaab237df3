import Crypto
import DatabaseSQLite
import Demo
import Foundation
import Identity

/// The data set for benchmarks of policies: a pool with millions of code attempts, whose policy has
/// the server enforce enrollment, and a project with a thousand tenants.
struct Metropolis {
  let identity: Identity

  /// Fills an empty database with the demo's pool.
  ///
  /// - Parameters:
  ///   - users: The number of users.
  ///   - codes: The number of code attempts per user.
  ///   - database: The database.
  ///   - keys: The master keys of the data folder.
  /// - Throws: Any error of the demo or a use case.
  func fill(users: Int, codes: Int, _ database: SQLiteDatabase, _ keys: KeyRing) async throws {
    let demo = try LargeDemo(
      users: users, codes: codes, database: database, keys: keys,
      hasher: PasswordHasher(width: 2), mail: NoText())
    _ = try await demo.fill { line in
      FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
    try await enforce()
    for tenant in try await Crowd(identity: identity).addTenants(1_000) {
      _ = try await Prepare.enroll(identity, tenant, Author(actor: .commandLine))
    }
  }

  /// Gives users 90 days, so that those without a second factor who still have time are counted.
  private func enforce() async throws {
    let scope = try await identity.scopes.existing(project: ID("metropolis"))
    let day = Day(identity.clock.now().advanced(bySeconds: -200 * 86_400))
    _ = try await identity.policies.change(scope, by: Author(actor: .commandLine)) { edit in
      edit.pattern = .mandatory
      edit.enforcement = Enforcement(.claim, from: day, graceDays: 90)
    }
  }
}
