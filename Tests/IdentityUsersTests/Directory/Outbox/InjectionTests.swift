import Database
import Identity
import TestDatabases
import Testing

@testable import TestIdentity

/// User-provided text can't add lines to an email or reverse the text around it.
struct InjectionTests {
  static let texts = [
    "x\r\nBcc: mallory@example.net\r\n\r\nHello", "x\nSubject: y", "x\rTo: z",
    "\u{202E}edoc\u{202C}",
    "a\u{2028}b\u{2029}c\u{85}d\u{0}e\u{7F}f", "\u{2066}i\u{200F}s\u{061C}o",
    String(repeating: "w", count: 4_000), String(repeating: "🦄", count: 90),
    "<script>alert(1)</script>", "https://mallory.example.net/__/auth/not-me?code=x",
  ].filter { TestDatabase.isSQLite || !$0.contains("\u{0}") }  // PostgreSQL can't store it.

  /// Expects one subject line, no injected lines, and intact links in an email.
  private func expectSound(_ mail: Mail, _ text: String) {
    let bad = (mail.subject + mail.body).unicodeScalars.filter { scalar in
      switch scalar.value {
      case 0x0A: false
      case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
      default: false
      }
    }
    #expect(bad.isEmpty, "\(mail.purpose)")
    #expect(!mail.subject.contains("\n"))
    #expect(!mail.body.split(separator: "\n").contains { $0.hasPrefix("Bcc") || $0 == "Hello" })
    #expect(mail.recipient == mail.recipient.lowercased() && !mail.recipient.contains("\n"))
    let own = mail.body.split(separator: "\n").filter {
      $0.hasPrefix("\(Instance.publicURL)/__/auth/not-me?")
        || $0.hasPrefix("\(Instance.publicURL)/__/auth/enroll?")
    }
    for line in own { #expect(line.split(separator: "=").last?.count == 43) }
    guard mail.purpose.hasPrefix("notice-factor") else { return }
    #expect(own.count == 1)
    let fact =
      mail.body.split(separator: "\n").first { $0.contains(", the second factor") }
      ?? ""
    let named = fact.split(separator: "”").first ?? ""
    #expect(!named.contains("://") && !named.contains("mallory.example") && named.count < 160)
  }

  @Test(arguments: texts)
  func `names of factors, users, and projects stay within their line`(text: String) async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.allowBackupCodes()
      _ = try await instance.administrator("olga", .owner)
      let device = try await instance.enrolled(.alice)
      let bob = try await instance.account(.bob)
      let agent = try await instance.agent()
      let key = device.account.id.text
      try await instance.database.write { connection in
        try connection.run(
          "UPDATE /* test */ factor SET display_name = \(text) WHERE enrollment_id = \(device.factor)"
        )
        try connection.run("UPDATE /* test */ account SET display_name = \(text)")
        try connection.run(
          """
          UPDATE /* test */ project SET display_name = \(text)
          WHERE project_id = \(instance.acme.project)
          """)
        try connection.run(
          "UPDATE /* test */ account SET initial_email = \(text) WHERE uid = \(key)")
      }
      let acme = try await instance.identity.pools.find(project: instance.acme.project)
      _ = try await instance.identity.enrollmentLinks.send(
        agent.request(note: text.count > 1_000 ? "" : text), to: bob.id, in: acme)
      _ = try await instance.temporaryCode(device.account, by: agent, in: acme)
      _ = try await instance.identity.factorRemovals.remove(
        acme, device.account.id, device.factor, agent.request())
      let link = try await instance.linkCode("notice-factors-removed", to: "/__/auth/not-me")
      try await instance.identity.reportedChanges.object(link, by: Instance.visitor)
      let mails = try await instance.mails()
      #expect(
        Set(mails.map(\.purpose)).isSuperset(of: [
          "enrollment-link", "notice-temporary-code", "notice-factors-removed",
          "alert-changes-locked",
        ]))
      for mail in mails { expectSound(mail, text) }
      // All of them can be claimed for delivery.
      var sent = 0
      while let mail = try await instance.claim() {
        sent += 1
        #expect(!mail.subject.contains("\n"))
      }
      #expect(sent == mails.count)
      try await instance.database.write { connection in
        // The display names bypassed the rules and aren't in the search index.
        try connection.run("UPDATE /* test */ account SET display_name = NULL")
      }
    }
  }
}
