import JSON
import Synchronization
import Testing

@testable import Identity
@testable import IdentityToolkitAPI

struct PreparedEditTests {
  private func prepared(_ runs: RunCount) -> PreparedEdit<UserPoolEdit, UserPoolError> {
    PreparedEdit(of: UserPoolEdit(displayName: "acme")) { (tenant) throws(UserPoolError) in
      runs.add()
      guard tenant.displayName != "gone" else { throw .tenantNotFound }
      tenant.disableAuth = true
    }
  }

  @Test func `an edit is applied as prepared if the settings are unchanged`() throws {
    let runs = RunCount()
    let edit = prepared(runs)
    var tenant = UserPoolEdit(displayName: "acme")
    try edit.apply(to: &tenant)
    #expect(tenant == UserPoolEdit(displayName: "acme", disableAuth: true))
    #expect(runs.count == 1)
  }

  @Test(arguments: [
    UserPoolEdit(displayName: "other"), UserPoolEdit(displayName: "acme", members: #"{"a":1}"#),
  ])
  func `a concurrent change is preserved`(_ changed: UserPoolEdit) throws {
    let runs = RunCount()
    let edit = prepared(runs)
    var tenant = changed
    try edit.apply(to: &tenant)
    var expected = changed
    expected.disableAuth = true
    #expect(tenant == expected)
    #expect(runs.count == 2)
  }

  @Test func `new members are parsed before the edit is applied`() throws {
    let runs = RunCount()
    let edit = PreparedEdit(of: UserPoolEdit(displayName: "acme")) {
      (tenant: inout UserPoolEdit) throws(UserPoolError) in
      runs.add()
      tenant.members = #"{"a":1}"#
    }
    #expect(runs.count == 1)
    var tenant = UserPoolEdit(displayName: "acme")
    try edit.apply(to: &tenant)
    #expect(runs.count == 1)
    #expect(tenant.storedMembers.parsed.withLock { $0?.root == ["a": 1] })
  }

  @Test func `an error in the edit is thrown when it's applied`() throws {
    let edit = PreparedEdit(of: UserPoolEdit(displayName: "gone")) {
      (tenant: inout UserPoolEdit) throws(UserPoolError) in throw .missingTenantName
    }
    var tenant = UserPoolEdit(displayName: "gone")
    #expect(throws: UserPoolError.self) { try edit.apply(to: &tenant) }
    #expect(tenant == UserPoolEdit(displayName: "gone"))
  }

  @Test func `a concurrent MFA configuration change doesn't repeat the edit`() async throws {
    let runs = RunCount()
    let edit = try await ConfigEdit(
      UpdateMask("disableAuth,mfaConfig.state"), "mfaConfig", MFAConfiguration(state: .mandatory),
      members: UpdateMask("disableAuth"), of: { UserPoolEdit(displayName: "acme") }
    ) { (tenant) in
      runs.add()
      tenant.disableAuth = true
    }
    var tenant = UserPoolEdit(
      displayName: "acme", configuration: MFAConfiguration(state: .enabled, smsEnabled: true))
    try edit.apply(to: &tenant)
    #expect(
      tenant
        == UserPoolEdit(
          displayName: "acme", disableAuth: true,
          configuration: MFAConfiguration(state: .mandatory, smsEnabled: true)))
    #expect(runs.count == 1)
  }

  @Test func `a mask of only the MFA configuration reads nothing`() async throws {
    let edit = try await ConfigMessage.edit(
      UpdateMask("mfa"), [:], MFAConfiguration(state: .enabled)
    ) { () throws(WireError) in throw WireError("READ") }
    #expect(edit.members == nil)
  }
}

private final class RunCount: Sendable {
  private let runs = Mutex(0)
  var count: Int { runs.withLock { $0 } }
  func add() { runs.withLock { $0 += 1 } }
}
