import Crypto
import Database
import Identity

struct DemoEvent: Sendable {
  let at: Instant
  let act: @Sendable () async throws -> Void
}

extension Demo {
  /// Runs the events of the month in chronological order.
  func live(_ crowds: [DemoCrowd], _ pools: [DemoPool], _ staff: DemoStaff) async throws {
    let hash = try await identity.accounts.hash(unruled: Self.password).encoded
    var events: [DemoEvent] = []
    for crowd in crowds { events += arrivals(in: crowd, hash: hash) }
    for demoPool in pools {
      events += decisions(about: demoPool, staff) + writings(for: demoPool, staff)
    }
    let spared = Set(
      crowds.flatMap(cast).map(\.uid) + [exampleUser(crowds)?.user.uid].compactMap { $0 })
    for crowd in crowds { events += calls(about: crowd, sparing: spared, staff) }
    events += supportEvents(crowds, staff) + reviewEvents(crowds, staff)
    if let teachers = pools.first(where: { $0.plan.name == "teachers" }) {
      let pool = teachers.pool
      events.append(
        DemoEvent(at: now.advanced(bySeconds: -2 * 86_400)) {
          _ = try await identity.invitations.invite(
            email: "noor@example.net", displayName: "Noor Bakker",
            grant: Grant(role: .support, project: pool.project, tenant: pool.tenant),
            by: .program(staff.author(staff.owner, random)))
        })
    }
    var folded = clock.now
    var purged = clock.now
    for event in events.sorted(by: { $0.at < $1.at }) {
      // The numbers of users are recorded under the current hour, and what expired is deleted at the
      // current time, rather than all of it by the server that's started.
      if event.at >= folded.advanced(bySeconds: 6 * 3_600) {
        try await fold()
        folded = event.at
      }
      if event.at >= purged.advanced(bySeconds: 86_400) {
        try await identity.purgeExpired()
        purged = event.at
      }
      clock.set(event.at)
      try await event.act()
    }
    try await fold()
    clock.set(now)
  }

  /// Returns a time of the month in the daytime, a number of seconds before its end.
  private func moment(from first: Int64 = Self.days * 86_400 - 43_200, to last: Int64 = 900)
    -> Instant
  {
    let seconds = now.seconds - random.number(last...first)
    // Maps the time of day to the time from 7:00, which keeps times in order.
    let daytime = seconds - seconds % 86_400 + 7 * 3_600 + seconds % 86_400 * 11 / 24
    return Instant(seconds: daytime > now.seconds - last ? daytime - 86_400 : daytime)
  }

  // MARK: - User actions

  private func arrivals(in crowd: DemoCrowd, hash: String) -> [DemoEvent] {
    var events: [DemoEvent] = []
    for user in crowd.users {
      if user.madeAt >= month {
        events.append(signUp(of: user, in: crowd.demoPool.pool, hash: hash))
      }
      if let enrolledAt = user.enrolledAt, enrolledAt >= month {
        events.append(enrollment(of: user, at: enrolledAt, in: crowd.demoPool.pool))
      }
    }
    return events
  }

  private func signUp(of user: DemoUser, in pool: Pool, hash: String) -> DemoEvent {
    let author = author(user)
    return DemoEvent(at: user.madeAt) {
      try await identity.store.write { connection in
        try insert(user, in: pool, hash: hash, connection)
        var entry = AuditEntry(.accountSignUp, .account, user.uid, name: user.email, in: pool)
        entry.add(.uid, .text(user.uid))
        entry.add(.email, .text(user.email))
        try entry.record(by: author, at: user.madeAt, connection)
      }
    }
  }

  private func enrollment(of user: DemoUser, at moment: Instant, in pool: Pool) -> DemoEvent {
    let author = author(user)
    return DemoEvent(at: moment) {
      try await identity.store.write { connection in
        try enroll(user, at: moment, in: pool, connection)
        var entry = AuditEntry(.factorEnroll, .account, user.uid, name: user.email, in: pool)
        let factor = AuditFactor(
          id: user.factor, kind: .totp, displayName: user.device, phoneNumber: nil)
        entry.add(.factors, .factors([factor]))
        try entry.record(by: author, at: moment, connection)
      }
    }
  }

  private func author(_ user: DemoUser) -> Author {
    Author(
      actor: .user(ID(user.uid)), address: "203.0.113.\(random.below(254) + 1)",
      requestID: random.source.token(bytes: 12))
  }

  // MARK: - Policy changes

  private func decisions(about demoPool: DemoPool, _ staff: DemoStaff) -> [DemoEvent] {
    let (pool, policy) = (demoPool.pool, demoPool.plan.policy(at: now))
    let author = staff.author(random.happens(800) ? staff.policy : staff.owner, random)
    guard policy != demoPool.plan.earlier else { return [] }
    func change(at: Instant, _ edit: @escaping @Sendable (inout PolicyEdit) -> Void) -> DemoEvent {
      DemoEvent(at: at) {
        _ = try await identity.policies.change(pool, by: .program(author), edit: edit)
      }
    }
    return [
      change(at: moment(to: 15 * 86_400)) { $0.pattern = policy.pattern },
      change(at: moment(from: 14 * 86_400)) { $0 = policy },
    ]
  }

  /// Returns the events that write a pool's support playbook, each version some days after the
  /// previous one.
  private func writings(for demoPool: DemoPool, _ staff: DemoStaff) -> [DemoEvent] {
    guard demoPool.plan.name == "retail" else { return [] }
    let (pool, author) = (demoPool.pool, staff.author(staff.owner, random))
    let start = moment(from: 25 * 86_400, to: 12 * 86_400)
    return [data.playbook, data.playbook + data.addition].enumerated().map { number, lines in
      DemoEvent(at: start.advanced(bySeconds: Int64(number) * 5 * 86_400)) {
        _ = try await identity.guidance.write(
          pool, lines.joined(separator: "\n"), expecting: number, by: .program(author))
      }
    }
  }

  // MARK: - Support cases

  private func calls(
    about crowd: DemoCrowd, sparing spared: Set<String>, _ staff: DemoStaff
  ) -> [DemoEvent] {
    let pool = crowd.demoPool.pool
    var events: [DemoEvent] = []
    for user in crowd.users where user.madeAt < month && !spared.contains(user.uid) {
      let id = ID<Account>(user.uid)
      let author = staff.author(staff.support, random)
      if let enrolledAt = user.enrolledAt, enrolledAt < month, random.happens(22) {
        events += loss(of: user, in: pool, staff)
      } else if random.happens(6) {
        events.append(
          DemoEvent(at: moment()) { try await identity.sessions.endAll(pool, id, by: author) })
      } else if random.happens(12) {
        events.append(change(of: user, in: pool, by: staff.author(staff.owner, random)))
      }
    }
    return events
  }

  /// Returns the events of a lost device: its factor is removed and often replaced soon after.
  private func loss(of user: DemoUser, in pool: Pool, _ staff: DemoStaff) -> [DemoEvent] {
    let cause = random.one(of: data.reasons)
    let reason = SupportReason(rawValue: cause.reason) ?? .lost
    let (account, factor) = (ID<Account>(user.uid), ID<Factor>(user.factor))
    // Not in the hour in which the agent can't act in one of the pools.
    let start = moment(to: 86_400)
    let removal = sitting(
      of: staff.support, minutesAgo: (now.seconds - start.seconds) / 60, staff
    ) { agent in
      _ = try await identity.factorRemovals.remove(
        pool, account, factor, agent.request(reason, cause.note))
    }
    let back = removal.at.advanced(bySeconds: random.number(3_600...3 * 86_400))
    guard reason != .left, back < now, random.happens(600) else { return [removal] }
    var renewed = user
    renewed.factor = random.source.uuid()
    renewed.secret = Secret(random.bytes(TOTPFactor.secretLength))
    return [removal, enrollment(of: renewed, at: back, in: pool)]
  }

  private func change(of user: DemoUser, in pool: Pool, by author: Author) -> DemoEvent {
    var change = AccountChange()
    if user.new.emailVerified {
      change.disabled = !user.new.disabled
    } else {
      change.emailVerified = true
    }
    let (edit, id) = (change, ID<Account>(user.uid))
    return DemoEvent(at: moment()) {
      _ = try await identity.accounts.update(pool, id, edit, by: author)
    }
  }
}
