import Identity
import Testing

@testable import TestIdentity

/// Who can change what gives access to accounts: the destination of links in emails, which is
/// limited, and the codes of test phone numbers.
struct AccessSettingsTests {
  private static let handler =
    #"{"notification":{"sendEmail":{"callbackUri":"https://app.example.com/action"}}}"#

  private func author(_ instance: Instance, _ role: Role) async throws -> Author {
    let administrator = try await instance.administrator("\(role)-links", role)
    return instance.author(administrator)
  }

  @Test(arguments: Role.allCases)
  func `only an owner can change the destination of links, and test phone numbers`(role: Role)
    async throws
  {
    try await withInstance { instance in
      let author = try await author(instance, role)
      let pools = instance.identity.pools
      let edits: [@Sendable (inout PoolEdit) -> Void] = [
        { $0.project?.authorizedDomains.append("app.example.com") },
        {
          $0.project?.authorizedDomains.append("app.example.com")
          $0.members = Self.handler
        },
        { $0.members = #"{"mobileLinksConfig":{"domain":"HOSTING_DOMAIN"}}"# },
        {
          $0.members =
            #"{"notification":{"sendEmail":{"resetPasswordTemplate":{"body":"%LINK%"}}}}"#
        },
        { $0.members = Self.testNumber("123456") }, { $0.members = Self.testNumber("654321") },
        { $0.project?.authorizedDomains = [] },
      ]
      for edit in edits {
        let result = await outcome {
          _ = try await pools.update(project: instance.acme.project, by: .program(author)) {
            edit(&$0)
          }
        }
        #expect(result == (role == .owner ? "done" : "ownerOnly"))
      }
      // An unchanged configuration requires no permission.
      _ = try await pools.update(project: instance.acme.project, by: .program(author)) { _ in }
    }
  }

  private static func testNumber(_ code: String) -> String {
    #"{"signIn":{"phoneNumber":{"testPhoneNumbers":{"+15551230001":"\#(code)"}}}}"#
  }

  @Test(arguments: Role.allCases)
  func `creating a tenant requires the same permissions as changing it`(role: Role) async throws {
    try await withInstance { instance in
      let author = try await author(instance, role)
      for members in [
        #"{"testPhoneNumbers":{"+15551230001":"123456"}}"#,
        #"{"mobileLinksConfig":{"domain":"HOSTING_DOMAIN"}}"#,
        #"{"inheritance":{"emailSendingConfig":true}}"#,
        #"{"notification":{"sendEmail":{"resetPasswordTemplate":{"replyTo":"a@example.com"}}}}"#,
      ] {
        await expect(role == .owner ? "done" : "ownerOnly") {
          try await instance.identity.pools.createTenant(
            in: instance.acme.project, PoolEdit(displayName: "North", members: members),
            by: .program(author))
        }
      }
      // Members without content give no access.
      await expect("done") {
        try await instance.identity.pools.createTenant(
          in: instance.acme.project,
          PoolEdit(
            displayName: "North",
            members: #"{"testPhoneNumbers":{},"inheritance":{"emailSendingConfig":false}}"#),
          by: .program(author))
      }
    }
  }

  @Test func `creating a tenant checks its settings like a change, and records them`()
    async throws
  {
    try await withInstance { instance in
      let pools = instance.identity.pools
      let template = #"{"notification":{"sendEmail":{"resetPasswordTemplate":{"replyTo":"a,b"}}}}"#
      await expect("invalidReplyTo") {
        try await pools.createTenant(
          in: instance.acme.project, PoolEdit(displayName: "North", members: template),
          by: .program(Author(actor: .commandLine)))
      }
      let tenant = try await pools.createTenant(
        in: instance.acme.project,
        PoolEdit(
          displayName: "North",
          signIn: SignInMethods(password: true, emailLink: false, anonymous: false),
          members:
            #"{"monitoring":{},"testPhoneNumbers":{"+15551230001":"135790"}}"#,
          configuration: MFAConfiguration(state: .enabled)),
        by: .program(Author(actor: .commandLine))
      ).value
      let row = try #require(try await instance.log(tenant.pool).first)
      #expect(row.action == .tenantCreate)
      #expect(
        row.changes == [
          AuditChange(.displayName, to: .text("North")),
          AuditChange(.passwordSignIn, to: .flag(true)),
          AuditChange(.testPhoneNumbers, to: .list(["+15551230001"])),
          AuditChange(.otherMembers, to: .text(#"{"monitoring":{}}"#)),
          AuditChange(.mfaState, to: .code("enabled")),
        ])
    }
  }

  @Test func `the audit log has test phone numbers and changes of their codes, but no codes`()
    async throws
  {
    try await withInstance { instance in
      let number = AuditValue.list(["+15551230001"])
      for (code, old) in [("135790", AuditValue.absent), ("097531", number)] {
        try await instance.setMembers(Self.testNumber(code))
        let row = try #require(try await instance.log().first)
        #expect(row.changes == [AuditChange(.testPhoneNumbers, from: old, to: number)])
      }
      let rows = try await instance.log().count
      try await instance.setMembers(Self.testNumber("097531"))
      #expect(try await instance.log().count == rows)
    }
  }

  @Test func `a policy admin can write back an unchanged link configuration`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      _ = try await pools.update(
        project: instance.acme.project, by: .program(Author(actor: .commandLine))
      ) {
        $0.project?.authorizedDomains = ["localhost", "app.example.com"]
        $0.members = Self.handler
      }
      let author = try await author(instance, .policy)
      _ = try await pools.update(project: instance.acme.project, by: .program(author)) {
        $0.project?.authorizedDomains = ["app.example.com", "localhost"]
        $0.members = Self.handler
        $0.project?.emailPrivacy.toggle()
      }
    }
  }

  @Test(arguments: [
    "https://app.example.com/action", "https://app.example.com.evil.example/",
    "javascript:alert(1)", "https://localhost/#x",
  ])
  func `the application's action page must be on an authorized domain`(uri: String) async throws {
    try await withInstance { instance in
      await expect("unauthorizedHost") {
        _ = try await instance.identity.pools.update(
          project: instance.acme.project, by: .program(Author(actor: .commandLine))
        ) { $0.members = #"{"notification":{"sendEmail":{"callbackUri":"\#(uri)"}}}"# }
      }
    }
  }

  @Test func `an action page on a domain that is no longer authorized isn't used`() async throws {
    try await withInstance { instance in
      let owner = Author(actor: .commandLine)
      _ = try await instance.account(.alice)
      for domains in [["localhost", "example.com"], ["localhost"]] {
        _ = try await instance.identity.pools.update(
          project: instance.acme.project, by: .program(owner)
        ) {
          $0.project?.authorizedDomains = domains
          $0.members = Self.handler
        }
        _ = try await instance.code(.passwordReset)
        let link = try #require(try await instance.mails().last).link
        #expect(link.hasPrefix("https://app.example.com/action?") == (domains.count == 2))
      }
    }
  }
}
