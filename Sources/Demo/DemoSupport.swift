import Crypto
import Database
import Identity
import Text

/// A demo agent who just signed in to the console with a code.
struct DemoAgent: Sendable {
  let session: ConsoleSession
  let author: Author

  func request(
    _ reason: SupportReason, _ note: String = "", ticket: String = ""
  ) -> ActionRequest {
    ActionRequest(
      agent: session, author: author, reason: reason, note: note, ticket: ticket,
      proofs: Set(Demo.proof.map { UntrustedText($0) }))
  }
}

extension Demo {
  /// The identity checks of the strictest pool.
  static let proof = [
    "Called back on the number on file", "Asked for the branch and the month of the last statement",
  ]

  /// Returns users of a pool who enrolled a second factor before the month and use it; the random
  /// part of the history leaves them alone.
  func cast(_ crowd: DemoCrowd) -> ArraySlice<DemoUser> {
    let example = exampleUser([crowd])?.user.uid
    let wanted =
      ["private-clients": 24, "clinic-south": 6, "retail": 4][crowd.demoPool.plan.name] ?? 0
    return crowd.users.filter { user in
      guard let enrolledAt = user.enrolledAt, let lastSeen = user.lastSeen else { return false }
      return user.madeAt < month && enrolledAt < month && enrolledAt < lastSeen
        && !user.new.disabled && user.uid != example
    }.prefix(wanted)
  }

  /// Returns the support actions of the last days, one of each kind.
  func supportEvents(_ crowds: [DemoCrowd], _ staff: DemoStaff) -> [DemoEvent] {
    var events: [DemoEvent] = []
    for crowd in crowds {
      let (pool, users) = (crowd.demoPool.pool, cast(crowd).map { ID<Account>($0.uid) })
      switch crowd.demoPool.plan.name {
      case "private-clients" where users.count == 24:
        events += strictPool(pool, Array(cast(crowd)), staff)
      case "clinic-south":
        events += [
          rules(of: pool, daysAgo: 21, staff) { $0.actionsPerHour = 5 },
          // Hits the hourly action limit.
          sitting(of: staff.support, minutesAgo: 100, staff) { agent in
            for user in users {
              do {
                _ = try await identity.support.endSessions(
                  pool, user, agent.request(.other, "Shared ward computer."))
              } catch ActionDenial.held { break }
            }
          },
        ]
      case "retail":
        guard let slow = cast(crowd).first else { continue }
        events.append(
          sitting(of: staff.support, minutesAgo: 200, staff) { agent in
            _ = try await identity.support.rename(
              pool, ID(slow.uid), ID(slow.factor), to: "Old phone",
              agent.request(.asked, "Bought a second one."))
          })
      default: continue
      }
    }
    return events
  }

  private func strictPool(
    _ pool: Pool, _ cast: [DemoUser], _ staff: DemoStaff
  ) -> [DemoEvent] {
    let users = cast.map { ID<Account>($0.uid) }
    return [
      rules(of: pool, daysAgo: 24, staff) { settings in
        settings.temporaryCodes = true
        settings.recoveryCodes = true
        settings.identityProof = Demo.proof
        settings.callerVerification = .offered
        settings.approvalOverUsers = 10
      },
      sitting(of: staff.owner, minutesAgo: 9 * 1_440, staff) { agent in
        _ = try await identity.support.protect(
          pool, users[0], true, agent.request(.other, "Member of the board."))
      },
      recoveryCodes(of: cast[1], in: pool, daysAgo: 15),
      sitting(of: staff.support, minutesAgo: 6 * 1_440, staff) { agent in
        let list = try BulkList(cast[18...23].map(\.email).joined(separator: "\n"))
        let removals = identity.bulkRemovals
        let id = try await removals.draft(list, in: pool, by: agent.author, agent.session)
        _ = try await removals.begin(
          id, in: pool, number: "", agent.request(.replaced, "New company phones."))
        while try await removals.step() {}
      },
      sitting(of: staff.support, minutesAgo: 1_700, staff) { agent in
        _ = try await identity.support.suspend(
          pool, users[1], ID(cast[1].factor), until: clock.now.advanced(bySeconds: 4 * 86_400),
          agent.request(.lost, "Will look for it at home first.", ticket: "48 230"))
      },
      sitting(of: staff.support, minutesAgo: 1_500, staff) { agent in
        let code = try await identity.backupCodes.makeTemporaryCode(
          agent.request(.other, "Phone is at the repair shop until tomorrow."), for: users[2],
          in: pool, hours: 24)
        guard let account = try await identity.accounts.find(pool, users[2]) else { return }
        let until = code.value.expiresAt
        let link = try await identity.store.write { connection in
          try UserLink.insert(
            .reportedChange, about: UserNotice(.temporaryCodeMade, until: until).stored,
            of: account,
            to: account.email ?? "", random: random.source, at: clock.now, connection)
        }
        try await identity.reportedChanges.object(link, by: Author(actor: .visitor))
      },
      sitting(of: staff.support, minutesAgo: 300, staff) { agent in
        _ = try await identity.factorRemovals.remove(
          pool, users[3], ID(cast[3].factor),
          agent.request(.lost, "Left in a taxi.", ticket: "48 291"))
      },
      sitting(of: staff.support, minutesAgo: 280, staff) { agent in
        _ = try await identity.backupCodes.makeTemporaryCode(
          agent.request(.other, "Forgot the phone at home."), for: users[4], in: pool, hours: 24)
      },
      sitting(of: staff.support, minutesAgo: 130, staff) { agent in
        let emails = [cast[0].email] + cast[5...17].map(\.email) + ["reception@harbour.example"]
        let list = try BulkList(emails.joined(separator: "\n"))
        let id = try await identity.bulkRemovals.draft(
          list, in: pool, by: agent.author, agent.session)
        _ = try await identity.bulkRemovals.begin(
          id, in: pool, number: "",
          agent.request(.stolen, "Break-in at the branch last night.", ticket: "48 297"))
      },
    ]
  }

  private func rules(
    of pool: Pool, daysAgo: Int64, _ staff: DemoStaff,
    _ change: @escaping @Sendable (inout SupportRules) -> Void
  ) -> DemoEvent {
    DemoEvent(at: now.advanced(bySeconds: -daysAgo * 86_400)) {
      var settings = SupportRules()
      change(&settings)
      try await identity.support.change(
        pool, to: settings, by: .program(staff.author(staff.policy, random)))
    }
  }

  /// Returns the event of a user who generates recovery codes in the application, right after
  /// signing in.
  private func recoveryCodes(of user: DemoUser, in pool: Pool, daysAgo: Int64) -> DemoEvent {
    let moment = now.advanced(bySeconds: -daysAgo * 86_400)
    let session = UserSession(
      pool: pool, account: ID(user.uid), authTime: moment.seconds, provider: .password,
      secondFactor: SecondFactorClaim(kind: .totp, enrollment: ID(user.factor)))
    return DemoEvent(at: moment) {
      _ = try await identity.enrollments.makeRecoveryCodes(
        session, by: Author(actor: .user(session.account)))
    }
  }

  /// Returns an event in which an agent signs in with a code, acts, and signs out.
  func sitting(
    of administrator: Administrator, minutesAgo: Int64, _ staff: DemoStaff,
    _ act: @escaping @Sendable (DemoAgent) async throws -> Void
  ) -> DemoEvent {
    DemoEvent(at: now.advanced(bySeconds: -minutesAgo * 60)) {
      let author = staff.author(administrator, random)
      let new = try await identity.store.write { connection in
        try ConsoleSessions.begin(
          administrator.id, address: author.address, userAgent: data.programs[1],
          requestID: author.requestID, proof: .code, at: clock.now,
          random: random.source, connection)
      }
      try await act(DemoAgent(session: new.session, author: author))
      try await identity.consoleSessions.end(new.session, by: author)
    }
  }
}
