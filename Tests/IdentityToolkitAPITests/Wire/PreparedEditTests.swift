import JSON
import Synchronization
import Testing

@testable import Identity
@testable import IdentityToolkitAPI

struct PreparedEditTests {
  private func prepared(_ runs: RunCount) -> PreparedEdit<PoolEdit, PoolError> {
    PreparedEdit(of: PoolEdit(displayName: "acme")) { (tenant) throws(PoolError) in
      runs.add()
      guard tenant.displayName != "gone" else { throw .tenantNotFound }
      tenant.disableAuth = true
    }
  }

  @Test func `an edit is applied as prepared if the settings are unchanged`() throws {
    let runs = RunCount()
    let edit = prepared(runs)
    var tenant = PoolEdit(displayName: "acme")
    try edit.apply(to: &tenant)
    #expect(tenant == PoolEdit(displayName: "acme", disableAuth: true))
    #expect(runs.count == 1)
  }

  @Test(arguments: [
    PoolEdit(displayName: "other"), PoolEdit(displayName: "acme", members: #"{"a":1}"#),
  ])
  func `a concurrent change is preserved`(_ changed: PoolEdit) throws {
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
    let edit = PreparedEdit(of: PoolEdit(displayName: "acme")) {
      (tenant: inout PoolEdit) throws(PoolError) in
      runs.add()
      tenant.members = #"{"a":1}"#
    }
    #expect(runs.count == 1)
    var tenant = PoolEdit(displayName: "acme")
    try edit.apply(to: &tenant)
    #expect(runs.count == 1)
    #expect(tenant.storedMembers.parsed.withLock { $0?.root == ["a": 1] })
  }

  @Test func `an error in the edit is thrown when it's applied`() throws {
    let edit = PreparedEdit(of: PoolEdit(displayName: "gone")) {
      (tenant: inout PoolEdit) throws(PoolError) in throw .missingTenantName
    }
    var tenant = PoolEdit(displayName: "gone")
    #expect(throws: PoolError.self) { try edit.apply(to: &tenant) }
    #expect(tenant == PoolEdit(displayName: "gone"))
  }

  @Test func `a concurrent MFA configuration change doesn't repeat the edit`() async throws {
    let runs = RunCount()
    let edit = try await ConfigEdit(
      UpdateMask("disableAuth,mfaConfig.state"), "mfaConfig", MFAConfiguration(state: .mandatory),
      members: UpdateMask("disableAuth"), of: { PoolEdit(displayName: "acme") }
    ) { (tenant) in
      runs.add()
      tenant.disableAuth = true
    }
    var tenant = PoolEdit(
      displayName: "acme", configuration: MFAConfiguration(state: .enabled, smsEnabled: true))
    try edit.apply(to: &tenant)
    #expect(
      tenant
        == PoolEdit(
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
