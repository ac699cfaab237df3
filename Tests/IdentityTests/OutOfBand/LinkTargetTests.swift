import Identity
import Testing

/// Who can change the destination of links in emails, and which destinations are allowed.
struct LinkTargetTests {
  private static let handler =
    #"{"notification":{"sendEmail":{"callbackUri":"https://app.example.com/action"}}}"#

  private func author(_ instance: Instance, _ role: Role) async throws -> Author {
    let administrator = try await instance.administrator("\(role)-links", role)
    return instance.author(administrator)
  }

  @Test(arguments: Role.allCases)
  func `only an owner can change the destination of links`(role: Role) async throws {
    try await withInstance { instance in
      let author = try await author(instance, role)
      let pools = instance.identity.pools
      let edits: [@Sendable (inout UserPoolEdit) -> Void] = [
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
        { $0.project?.authorizedDomains = [] },
      ]
      for edit in edits {
        let result = await outcome {
          _ = try await pools.update(project: instance.acme.project, by: author) { edit(&$0) }
        }
        #expect(result == (role == .owner ? "done" : "links.ownerOnly"))
      }
      // An unchanged configuration requires no permission.
      _ = try await pools.update(project: instance.acme.project, by: author) { _ in }
    }
  }

  @Test func `a policy admin can write back an unchanged link configuration`() async throws {
    try await withInstance { instance in
      let pools = instance.identity.pools
      _ = try await pools.update(project: instance.acme.project, by: Author(actor: .commandLine)) {
        $0.project?.authorizedDomains = ["localhost", "app.example.com"]
        $0.members = Self.handler
      }
      let author = try await author(instance, .policy)
      _ = try await pools.update(project: instance.acme.project, by: author) {
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
      await expect("links.unauthorizedHost") {
        _ = try await instance.identity.pools.update(
          project: instance.acme.project, by: Author(actor: .commandLine)
        ) { $0.members = #"{"notification":{"sendEmail":{"callbackUri":"\#(uri)"}}}"# }
      }
    }
  }

  @Test func `an action page on a domain that is no longer authorized isn't used`() async throws {
    try await withInstance { instance in
      let owner = Author(actor: .commandLine)
      _ = try await instance.account(.alice)
      for domains in [["localhost", "example.com"], ["localhost"]] {
        _ = try await instance.identity.pools.update(project: instance.acme.project, by: owner) {
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
