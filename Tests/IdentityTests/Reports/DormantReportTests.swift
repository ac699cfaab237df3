import Testing

@testable import Identity

/// The report of administrators who don't use the console.
struct DormantReportTests {
  private static let day: Int64 = 86_400

  private func names(_ instance: Instance, days: Int) async throws -> [String] {
    try await instance.identity.reports.dormant(days: days).map { access in
      switch access.holder {
      case .administrator(let record): record.administrator.displayName
      case .invited(let invitation): "invited " + invitation.email
      }
    }
  }

  @Test func `it lists who hasn't used the console for so long, never did, or wasn't there yet`()
    async throws
  {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let nora = try await instance.administrator("nora", .auditor)
      _ = try await instance.administrator("never", .auditor)
      _ = try await instance.giveConsolePassword(nora)
      instance.clock.advance(40 * Self.day)
      _ = try await instance.giveConsolePassword(boss)
      _ = try await instance.invite("new@example.com", by: boss)
      let month = try await names(instance, days: 30).sorted()
      #expect(month == ["invited new@example.com", "never", "nora"])
      #expect(try await names(instance, days: 90) == ["never", "invited new@example.com"])
      instance.clock.advance(8 * Self.day)
      // An expired invitation gives no access.
      #expect(try await names(instance, days: 90) == ["never"])
    }
  }

  @Test func `its summary counts who never signed in separately, however new`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let iris = try await instance.administrator("iris", .auditor)
      let nora = try await instance.administrator("nora", .auditor)
      _ = try await instance.giveConsolePassword(nora)
      instance.clock.advance(91 * Self.day)
      _ = try await instance.giveConsolePassword(iris)
      try await instance.identity.reports.subscribe(
        iris.id, to: .dormantAdministrators, .weekly, about: .instance)
      _ = try await instance.administrator("new", .auditor)
      instance.clock.advance(8 * Self.day)
      try await instance.identity.sendReports()
      let mail = try #require(try await instance.mails("report").first)
      #expect(
        mail.body.contains(
          "1 administrator hasn't used the console in 90 days. "
            + "1 administrator has never signed in. 0 invitations are open."))
    }
  }

  @Test func `its summary is emailed only to those who can see administrators`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let reports = instance.identity.reports
      let iris = try await instance.administrator("iris", .auditor)
      let sam = try await instance.administrator("sam", .support)
      let local = try await instance.administrator(
        "local", .auditor, project: instance.acme.project)
      for other in [sam, local] {
        await expect("notAllowed") {
          try await reports.subscribe(
            other.id, to: .dormantAdministrators, .weekly, about: .instance)
        }
      }
      await expect("notAllowed") {
        try await reports.subscribe(
          iris.id, to: .dormantAdministrators, .weekly, about: .pool(instance.acme))
      }
      try await reports.subscribe(iris.id, to: .dormantAdministrators, .weekly, about: .instance)
      instance.clock.advance(8 * Self.day)
      try await instance.identity.sendReports()
      let mail = try #require(try await instance.mails("report").first)
      #expect(mail.recipient == iris.email)
      #expect(
        mail.body.contains(
          "0 administrators haven't used the console in 90 days. "
            + "3 administrators have never signed in. 0 invitations are open."))
      #expect(mail.body.contains("/reports/dormant-administrators"))
    }
  }

  @Test func `the access review's summary counts administrators, roles, and dormant ones`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let reports = instance.identity.reports
      let iris = try await instance.administrator("iris", .auditor)
      let sam = try await instance.administrator("sam", .support)
      await expect("notAllowed") {
        try await reports.subscribe(sam.id, to: .access, .weekly, about: .instance)
      }
      await expect("notAllowed") {
        try await reports.subscribe(iris.id, to: .access, .weekly, about: .pool(instance.acme))
      }
      try await reports.subscribe(iris.id, to: .access, .weekly, about: .instance)
      instance.clock.advance(100 * Self.day)
      _ = try await instance.administrator("olga", .owner)
      let tim = try await instance.administrator("tim", .support)
      try await instance.identity.administrators.revoke(
        Grant(role: .support), from: tim.id, by: Author(actor: .commandLine))
      try await instance.identity.sendReports()
      let grants = try await reports.access()
      let mail = try #require(try await instance.mails("report").first)
      #expect(mail.recipient == iris.email && mail.subject.hasPrefix("Access review"))
      // Tim has no role, and Olga is new.
      let roles = grants.filter { $0.grant != nil }
      let dormant = grants.filter { $0.state(at: instance.now) == .dormant }
      #expect(roles.count == grants.count - 1 && dormant.count < roles.count)
      #expect(
        mail.body.contains("\(roles.administrators) administrators have \(roles.count) roles. "))
      #expect(
        mail.body.contains(
          "\(dormant.administrators) of them can sign in, but haven't used the console in 90 days.")
      )
      #expect(mail.body.contains("/reports/access"))
    }
  }
}
