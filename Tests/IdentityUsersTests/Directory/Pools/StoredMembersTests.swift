import JSON
import Synchronization
import Testing

@testable import Identity
@testable import TestIdentity

/// All writes share one thread, so they parse the text of configuration members only if it changes,
/// and then at most once.
struct StoredMembersTests {
  private static let number = "+15551230001"

  /// Members with everything that a write looks at.
  private static func members(_ code: String, isTenant: Bool) -> String {
    let numbers = #""testPhoneNumbers":{"\#(number)":"\#(code)"}"#
    let own = isTenant ? numbers : #""signIn":{"phoneNumber":{\#(numbers)}}"#
    return #"""
      {\#(own),"notification":{"sendEmail":{"resetPasswordTemplate":{"replyTo":"a@example.com"}}}}
      """#
  }

  @Test(arguments: [false, true])
  func `a write that leaves the text as it is parses nothing`(isTenant: Bool) async throws {
    try await withInstance { instance in
      let text = Self.members("123456", isTenant: isTenant)
      try await update(instance, isTenant: isTenant) { $0.members = text }
      let seen = SeenMembers()
      try await update(instance, isTenant: isTenant) { edit in
        edit.displayName = "Renamed"
        edit.signIn.anonymous.toggle()
        edit.project?.authorizedDomains.append("app.example.com")
        edit.members = text
        seen.add(edit.storedMembers)
      }
      #expect(seen.areParsed == [false])
    }
  }

  @Test(arguments: [false, true])
  func `a write of another text parses each text once`(isTenant: Bool) async throws {
    try await withInstance { instance in
      try await update(instance, isTenant: isTenant) {
        $0.members = Self.members("123456", isTenant: isTenant)
      }
      let seen = SeenMembers()
      try await update(instance, isTenant: isTenant) { edit in
        seen.add(edit.storedMembers)
        edit.members = Self.members("654321", isTenant: isTenant)
        seen.add(edit.storedMembers)
        // New text is parsed when it's set, which a prepared edit does before the write.
        #expect(seen.areParsed == [false, true])
      }
      // The write read both in the values that the edit had, which are parsed at most once.
      #expect(seen.areParsed == [true, true])
    }
  }

  @Test func `members that are changed as values aren't parsed again`() throws {
    let text = Self.members("123456", isTenant: true)
    var tenant = PoolEdit(displayName: "shop", members: text)
    let seen = SeenMembers()
    seen.add(tenant.storedMembers)
    tenant.emailPrivacy = false
    seen.add(tenant.storedMembers)
    #expect(seen.areParsed == [true, true])
    let content = tenant.storedMembers.content
    #expect(try content.root == JSON.parse(Array(tenant.members.utf8)))
    #expect(content.testCodes == [Self.number: "123456"])
    #expect(!content.textWithoutTestNumbers.contains("testPhoneNumbers"))
  }

  @Test func `text is the same only byte by byte`() {
    let one = StoredMembers("{\"a\":\"\u{e9}\"}", isTenant: true)
    #expect(one == StoredMembers("{\"a\":\"\u{e9}\"}", isTenant: true))
    #expect(one != StoredMembers("{\"a\":\"e\u{301}\"}", isTenant: true))
  }

  private func update(
    _ instance: Instance, isTenant: Bool, _ edit: @escaping @Sendable (inout PoolEdit) -> Void
  ) async throws {
    let pool = isTenant ? instance.east : instance.acme
    _ = try await instance.identity.pools.update(
      project: pool.project, tenant: pool.tenant, by: .program(Author(actor: .commandLine))
    ) { edit(&$0) }
  }
}

/// The members that edits had.
private final class SeenMembers: Sendable {
  private let members = Mutex<[StoredMembers]>([])

  func add(_ new: StoredMembers) { members.withLock { $0.append(new) } }

  var areParsed: [Bool] {
    members.withLock { $0.map { $0.parsed.withLock { $0 != nil } } }
  }
}
