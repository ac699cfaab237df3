import Crypto
import Database
import Identity
import OTP

struct DemoCrowd: Sendable {
  let pool: DemoPool
  let users: [DemoUser]
}

extension Demo {
  /// Generates all users, and stores those from before the month like an import.
  ///
  /// They share one password hash, because hashing five thousand passwords would take too long.
  func importPeople(_ pools: [DemoPool], _ staff: DemoStaff) async throws -> [DemoCrowd] {
    let hash = try await identity.accounts.hash(unruled: Self.password).encoded
    var lots = DemoUsers(self)
    var crowds: [DemoCrowd] = []
    for (number, pool) in pools.enumerated() {
      let users = try lots.draw(for: pool)
      crowds.append(DemoCrowd(pool: pool, users: users))
      clock.set(month.advanced(bySeconds: Int64(number - pools.count) * 1_800))
      let old = users.filter { $0.madeAt < month }.sorted { $0.madeAt < $1.madeAt }
      try await store(old, in: pool, hash: hash)
      try await recordImport(of: old.count, into: pool, by: staff.author(staff.owner, random))
    }
    return crowds
  }

  private func store(_ users: [DemoUser], in pool: DemoPool, hash: String) async throws {
    let scope = pool.scope
    try await identity.store.write { connection in
      for user in users {
        try insert(user, in: scope, hash: hash, connection)
        if let enrolledAt = user.enrolledAt, enrolledAt < month {
          try enroll(user, at: enrolledAt, in: scope, connection)
          if pool.plan.sms == true {
            try enrollPhone(of: user, at: enrolledAt, in: scope, connection)
          }
        }
      }
    }
  }

  /// Stores a user with the session of their last sign-in.
  func insert(
    _ user: DemoUser, in scope: Scope, hash: String, _ connection: borrowing Connection
  ) throws {
    let account = try AccountRecord.insert(
      user.new, passwordHash: user.hasPassword ? hash : nil, anonymous: false, in: scope,
      uid: user.uid, at: user.madeAt, connection)
    guard let lastSeen = user.lastSeen else { return }
    _ = try Sessions.begin(
      account, in: scope, provider: .password, secondFactor: nil, with: .signIn,
      at: lastSeen, random: random.source, connection)
  }

  func enroll(
    _ user: DemoUser, at moment: Instant, in scope: Scope, _ connection: borrowing Connection
  ) throws {
    guard let account = try AccountRecord.find(scope, ID(user.uid), connection) else { return }
    try totp.insert(
      ID(user.factor), displayName: user.device, secret: user.secret,
      lastStep: moment.seconds / TOTPFactor.period, for: account, in: scope, at: moment, connection)
  }

  /// Enrolls the phone of a user who has one as another second factor, a day after the app.
  private func enrollPhone(
    of user: DemoUser, at moment: Instant, in scope: Scope, _ connection: borrowing Connection
  ) throws {
    guard let phone = user.new.phoneNumber,
      let account = try AccountRecord.find(scope, ID(user.uid), connection)
    else { return }
    try PhoneFactor.insert(
      ID(random.source.uuid()), displayName: nil, phoneNumber: phone,
      enrolledAt: moment.advanced(bySeconds: 86_400), for: account, in: scope, connection)
  }

  private func recordImport(of count: Int, into pool: DemoPool, by author: Author) async throws {
    let moment = clock.now
    try await identity.store.write { connection in
      var entry = AuditEntry(
        .accountImport, .scope, pool.scope.objectID, name: pool.scope.name, in: pool.scope)
      entry.add(.usersCreated, .number(count))
      try entry.record(by: author, at: moment, connection)
    }
  }

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
    try await identity.store.write { connection in
      for at in stride(from: first.seconds, to: month.seconds - 86_400, by: 86_400) {
        let moment = Instant(seconds: at)
        try Activity.record(
          users: made.prefix { $0 <= moment }.count,
          enrolled: enrolled.prefix { $0 <= moment }.count, of: scope, isWhole: isWhole,
          at: moment, connection)
      }
    }
  }

  func fold() async throws { while try await identity.activity.fold() {} }

  /// Returns a user for trying out API calls, whom the history doesn't change.
  func exampleUser(_ crowds: [DemoCrowd]) -> (crowd: DemoCrowd, user: DemoUser)? {
    guard let crowd = crowds.first(where: { $0.pool.plan.name == "retail" }) else { return nil }
    let user = crowd.users.first { user in
      user.enrolledAt != nil && user.hasPassword && !user.new.disabled
    }
    return user.map { (crowd, $0) }
  }

  func example(_ crowds: [DemoCrowd]) -> DemoPerson? {
    guard let (crowd, user) = exampleUser(crowds) else { return nil }
    let scope = crowd.pool.scope
    return DemoPerson(
      name: user.new.displayName ?? "", email: user.email, password: Self.password,
      role: "user of \(scope.project)/\(scope.name)",
      authenticator: TOTPFactor.password(user.secret))
  }
}
