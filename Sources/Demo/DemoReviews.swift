import Identity

extension Demo {
  /// Returns what makes the reviews of the demo worth reading: a sign-off that later changes made out
  /// of date, two exemptions, and the last sign-in of every administrator.
  func reviewEvents(_ crowds: [DemoCrowd], _ staff: DemoStaff) -> [DemoEvent] {
    var events = [
      // Half of the policy changes are made after it.
      sitting(of: staff.auditor, minutesAgo: 14 * 1_440 + 720, staff) { agent in
        let bank = ID<Project>("harbour-bank")
        let evidence = try await identity.reviews.evidence(
          of: bank, for: agent.session.administrator)
        let due = Day(clock.now.advanced(bySeconds: 90 * 86_400))
        _ = try await identity.reviews.signOff(
          bank, seen: evidence.digest, dueOn: due,
          ActionRequest(
            agent: agent.session, author: agent.author,
            note: "Quarterly review with the branch managers."))
      },
      sitting(of: staff.auditor, minutesAgo: 2 * 1_440, staff) { _ in },
      sitting(of: staff.owner, minutesAgo: 12, staff) { _ in },
      sitting(of: staff.policy, minutesAgo: 10, staff) { _ in },
    ]
    if let agent = staff.tenantAgent {
      events.append(sitting(of: agent, minutesAgo: 290, staff) { _ in })
    }
    return events + exemptions(crowds, staff)
  }

  /// Returns the exemptions of a user of two pools each, who has no second factor.
  private func exemptions(_ crowds: [DemoCrowd], _ staff: DemoStaff) -> [DemoEvent] {
    let cases: [(pool: String, daysAgo: Int64, days: Int64, note: String)] = [
      ("business", 9, 14, "Accounting system; will move to a service account."),
      ("clinic-north", 3, 30, "Waiting for a phone for the ward."),
    ]
    return cases.compactMap { one in
      guard let crowd = crowds.first(where: { $0.demoPool.plan.name == one.pool }),
        let user = crowd.users.first(where: {
          $0.enrolledAt == nil && $0.new.emailVerified && !$0.new.disabled && $0.madeAt < month
        })
      else { return nil }
      return sitting(of: staff.owner, minutesAgo: one.daysAgo * 1_440, staff) { agent in
        _ = try await identity.exemptions.grant(
          crowd.demoPool.pool, ID(user.uid),
          until: clock.now.advanced(bySeconds: one.days * 86_400),
          agent.request(.other, one.note))
      }
    }
  }
}
