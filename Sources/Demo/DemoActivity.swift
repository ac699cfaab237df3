import Database
import Identity

extension Demo {
  /// Stores the numbers of users from before the month, day by day, as if they had been observed.
  func storeGrowth(_ crowds: [DemoCrowd]) async throws {
    for scope in crowds.map(\.pool.scope) {
      let project = crowds.filter { $0.pool.scope.project == scope.project }
      let own = project.filter { $0.pool.scope == scope }
      try await storeGrowth(of: own.flatMap(\.users), as: scope, isWhole: false)
      guard scope.tenant == nil else { continue }
      try await storeGrowth(of: project.flatMap(\.users), as: scope, isWhole: true)
    }
  }

  private func storeGrowth(of users: [DemoUser], as scope: Scope, isWhole: Bool) async throws {
    let made = users.map(\.madeAt).filter { $0 < month }.sorted()
    let enrolled = users.compactMap(\.enrolledAt).filter { $0 < month }.sorted()
    guard let first = made.first else { return }
    try await identity.store.write(DemoError.self) { connection in
      for at in stride(from: first.seconds, to: month.seconds - 86_400, by: 86_400) {
        let moment = Instant(seconds: at)
        try Activity.record(
          users: made.prefix { $0 <= moment }.count,
          enrolled: enrolled.prefix { $0 <= moment }.count, of: scope, isWhole: isWhole,
          at: moment, connection)
      }
    }
  }

  /// Adds all activity to the counts by hour.
  func fold() async throws { while try await identity.activity.fold() {} }
}
