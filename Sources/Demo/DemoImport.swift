import Crypto
import Database
import Identity
import OTP

struct DemoCrowd: Sendable {
  let demoPool: DemoPool
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
    for (number, demoPool) in pools.enumerated() {
      let users = try lots.draw(for: demoPool)
      crowds.append(DemoCrowd(demoPool: demoPool, users: users))
      clock.set(month.advanced(bySeconds: Int64(number - pools.count) * 1_800))
      let old = users.filter { $0.madeAt < month }.sorted { $0.madeAt < $1.madeAt }
      try await store(old, in: demoPool, hash: hash)
      try await recordImport(of: old.count, into: demoPool, by: staff.author(staff.owner, random))
    }
    return crowds
  }

  private func store(_ users: [DemoUser], in demoPool: DemoPool, hash: String) async throws {
    let pool = demoPool.pool
    try await identity.store.write { connection in
      for user in users {
        try insert(user, in: pool, hash: hash, connection)
        if let enrolledAt = user.enrolledAt, enrolledAt < month {
          try enroll(user, at: enrolledAt, in: pool, connection)
          if demoPool.plan.sms == true {
            try enrollPhone(of: user, at: enrolledAt, in: pool, connection)
          }
        }
      }
    }
  }

  /// Stores a user with the session of their last sign-in.
  func insert(
    _ user: DemoUser, in pool: Pool, hash: String, _ connection: borrowing Connection
  ) throws {
    let account = try AccountRecord.insert(
      user.new, passwordHash: user.hasPassword ? hash : nil, anonymous: false, in: pool,
      uid: user.uid, at: user.madeAt, connection)
    guard let lastSeen = user.lastSeen else { return }
    _ = try Sessions.begin(
      account, in: pool, provider: .password, secondFactor: nil, with: .signIn,
      at: lastSeen, random: random.source, connection)
  }

  func enroll(
    _ user: DemoUser, at moment: Instant, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    guard let account = try AccountRecord.find(pool, ID(user.uid), connection) else { return }
    try totp.insert(
      ID(user.factor), displayName: user.device, secret: user.secret,
      lastStep: moment.seconds / TOTPFactor.period, for: account, in: pool, at: moment, connection)
  }

  /// Enrolls the phone of a user who has one as another second factor, a day after the app.
  private func enrollPhone(
    of user: DemoUser, at moment: Instant, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    guard let phone = user.new.phoneNumber,
      let account = try AccountRecord.find(pool, ID(user.uid), connection)
    else { return }
    try PhoneFactor.insert(
      ID(random.source.uuid()), displayName: nil, phoneNumber: phone,
      enrolledAt: moment.advanced(bySeconds: 86_400), for: account, in: pool, connection)
  }

  private func recordImport(of count: Int, into demoPool: DemoPool, by author: Author) async throws
  {
    let moment = clock.now
    try await identity.store.write { connection in
      var entry = AuditEntry(
        .accountImport, .pool, demoPool.pool.objectID, name: demoPool.pool.name, in: demoPool.pool)
      entry.add(.usersCreated, .number(count))
      try entry.record(by: author, at: moment, connection)
    }
  }

  /// Stores the numbers of users from before the month, day by day, as if they had been observed.
  func storeGrowth(_ crowds: [DemoCrowd]) async throws {
    for pool in crowds.map(\.demoPool.pool) {
      let project = crowds.filter { $0.demoPool.pool.project == pool.project }
      let own = project.filter { $0.demoPool.pool == pool }
      try await storeGrowth(of: own.flatMap(\.users), as: pool, isWhole: false)
      guard pool.tenant == nil else { continue }
      try await storeGrowth(of: project.flatMap(\.users), as: pool, isWhole: true)
    }
  }

  private func storeGrowth(of users: [DemoUser], as pool: Pool, isWhole: Bool) async throws {
    let made = users.map(\.madeAt).filter { $0 < month }.sorted()
    let enrolled = users.compactMap(\.enrolledAt).filter { $0 < month }.sorted()
    guard let first = made.first else { return }
    try await identity.store.write { connection in
      for at in stride(from: first.seconds, to: month.seconds - 86_400, by: 86_400) {
        let moment = Instant(seconds: at)
        try Activity.record(
          users: made.prefix { $0 <= moment }.count,
          enrolled: enrolled.prefix { $0 <= moment }.count, of: pool, isWhole: isWhole,
          at: moment, connection)
      }
    }
  }

  func fold() async throws { while try await identity.activity.fold() {} }

  /// Returns a user for trying out API calls, whom the history doesn't change.
  func exampleUser(_ crowds: [DemoCrowd]) -> (crowd: DemoCrowd, user: DemoUser)? {
    guard let crowd = crowds.first(where: { $0.demoPool.plan.name == "retail" }) else { return nil }
    let user = crowd.users.first { user in
      user.enrolledAt != nil && user.hasPassword && !user.new.disabled
    }
    return user.map { (crowd, $0) }
  }

  func example(_ crowds: [DemoCrowd]) -> DemoPerson? {
    guard let (crowd, user) = exampleUser(crowds) else { return nil }
    let pool = crowd.demoPool.pool
    return DemoPerson(
      name: user.new.displayName ?? "", email: user.email, password: Self.password,
      role: "user of \(pool.project)/\(pool.name)",
      authenticator: TOTPFactor.password(user.secret))
  }
}
