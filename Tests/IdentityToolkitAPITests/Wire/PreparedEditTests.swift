import Identity
import JSON
import Synchronization
import Testing

@testable import IdentityToolkitAPI

struct PreparedEditTests {
  private func prepared(_ runs: RunCount) -> PreparedEdit<TenantEdit, TenantError> {
    PreparedEdit(of: TenantEdit(displayName: "acme")) { (tenant) throws(TenantError) in
      runs.add()
      guard tenant.displayName != "gone" else { throw .notFound }
      tenant.disableAuth = true
    }
  }

  @Test func `settings as they were when the edit was prepared are assigned`() throws {
    let runs = RunCount()
    let edit = prepared(runs)
    var tenant = TenantEdit(displayName: "acme")
    try edit.apply(to: &tenant)
    #expect(tenant == TenantEdit(displayName: "acme", disableAuth: true))
    #expect(runs.count == 1)
  }

  @Test(arguments: [
    TenantEdit(displayName: "other"), TenantEdit(displayName: "acme", members: #"{"a":1}"#),
  ])
  func `another change in between is kept`(_ changed: TenantEdit) throws {
    let runs = RunCount()
    let edit = prepared(runs)
    var tenant = changed
    try edit.apply(to: &tenant)
    var expected = changed
    expected.disableAuth = true
    #expect(tenant == expected)
    #expect(runs.count == 2)
  }

  @Test func `an error is thrown when the edit is applied`() throws {
    let edit = PreparedEdit(of: TenantEdit(displayName: "gone")) {
      (tenant: inout TenantEdit) throws(TenantError) in throw .missingDisplayName
    }
    var tenant = TenantEdit(displayName: "gone")
    #expect(throws: TenantError.self) { try edit.apply(to: &tenant) }
    #expect(tenant == TenantEdit(displayName: "gone"))
  }

  @Test func `a change of the MFA configuration in between prepares nothing anew`() async throws {
    let runs = RunCount()
    let edit = try await ConfigEdit(
      UpdateMask("disableAuth,mfaConfig.state"), MFAConfiguration(state: .mandatory),
      members: UpdateMask("disableAuth"), of: { TenantEdit(displayName: "acme") }
    ) { (tenant) in
      runs.add()
      tenant.disableAuth = true
    }
    var tenant = TenantEdit(
      displayName: "acme", configuration: MFAConfiguration(state: .enabled, smsEnabled: true))
    try edit.apply(to: &tenant)
    #expect(
      tenant
        == TenantEdit(
          displayName: "acme", disableAuth: true,
          configuration: MFAConfiguration(state: .mandatory, smsEnabled: true)))
    #expect(runs.count == 1)
  }

  @Test func `a mask of the MFA configuration alone reads nothing`() async throws {
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
