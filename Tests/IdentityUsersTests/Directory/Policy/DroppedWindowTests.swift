@testable import Identity
import Testing

@testable import TestIdentity

/// Dropping the TOTP configuration and adding it with a wider window.
struct DroppedWindowTests {
  private func edit(_ state: MFAState?, _ intervals: Int? = nil) -> PolicyEdit {
    PolicyEdit(
      configuration: MFAConfiguration(
        state: .enabled,
        totp: state.map { TOTPConfiguration(state: $0, adjacentIntervals: intervals) }),
      pattern: nil)
  }

  @Test func `a missing window is compared as the default one if users have an app`() {
    let (narrow, none, wide) = (edit(.disabled, 1), edit(nil), edit(.enabled, 10))
    #expect(
      none.weakenings(since: narrow, usersHaveApps: true) == [.widerWindow(from: 1, to: 5)])
    #expect(
      wide.weakenings(since: none, usersHaveApps: true) == [.widerWindow(from: 5, to: 10)])
    let standard = edit(.enabled)
    #expect(standard.weakenings(since: none, usersHaveApps: true).isEmpty)
    #expect(none.weakenings(since: edit(.disabled, 5), usersHaveApps: true).isEmpty)
    #expect(none.weakenings(since: narrow).isEmpty && wide.weakenings(since: none).isEmpty)
  }

  @Test(arguments: [false, true])
  func `both steps require what widening the window does, if users have an app`(haveApps: Bool)
    async throws
  {
    try await withInstance { instance in
      if haveApps { _ = try await instance.enrolled(.alice) }
      let policies = instance.identity.policies
      try await instance.setSupportRules { $0.policyApprovalOverUsers = 0 }
      let narrow = TOTPConfiguration(state: .disabled, adjacentIntervals: 1)
      let wide = TOTPConfiguration(state: .enabled, adjacentIntervals: 10)
      _ = try await policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.totp = narrow
      }
      for totp in [nil, wide] {
        let change: @Sendable (inout PolicyEdit) -> Void = { $0.configuration.totp = totp }
        let preview = try await policies.preview(instance.acme) { edit in
          var edit = edit
          change(&edit)
          return edit
        }
        #expect(preview.action == (haveApps ? .weakenPolicy : .changePolicy))
        #expect(preview.needsApproval == haveApps)
        _ = try await policies.change(instance.acme, by: .program(Instance.boss)) { change(&$0) }
        let row = try await instance.log().first
        #expect(row?.action == (haveApps ? .policyWiden : .policyChange))
      }
    }
  }

  @Test(arguments: [false, true])
  func `a change of the configuration alone is logged as widening if users have an app`(
    haveApps: Bool
  ) async throws {
    try await withInstance { instance in
      if haveApps { _ = try await instance.enrolled(.alice) }
      let narrow = TOTPConfiguration(state: .enabled, adjacentIntervals: 1)
      let wide = TOTPConfiguration(state: .enabled, adjacentIntervals: 10)
      for totp in [narrow, nil, wide] {
        _ = try await instance.identity.pools.update(
          project: instance.acme.project, by: .program(Instance.boss)
        ) { $0.configuration.totp = totp }
        let row = try await instance.log().first
        let widens = haveApps && totp != narrow
        #expect(row?.action == (widens ? .policyWiden : .policyChange))
      }
    }
  }
}
