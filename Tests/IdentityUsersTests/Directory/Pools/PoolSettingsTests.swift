import Identity
import Testing

@testable import TestIdentity

/// Tests settings shared by projects and tenants, and project-only settings.
struct PoolSettingsTests {
  @Test(arguments: [false, true])
  func `a shared setting changes the same way in a project and a tenant`(isTenant: Bool)
    async throws
  {
    try await withInstance { instance in
      let pool = isTenant ? instance.east : instance.acme
      let settings = try await instance.identity.pools.update(
        project: pool.project, tenant: pool.tenant, by: .program(Instance.boss)
      ) { edit in
        edit.displayName = "Renamed"
        edit.signIn = SignInMethods(password: false, emailLink: true, anonymous: true)
        edit.disableAuth = true
        edit.members = #"{"monitoring":{}}"#
        edit.userPermissions = UserPermissions(signUp: false, deletion: false)
        edit.passwords = PasswordPolicy(isEnforced: true, shortest: 9)
        edit.changesNeedFactor = false
      }.value
      #expect(settings.displayName == "Renamed" && settings.pool.isDisabled && settings.disableAuth)
      #expect(settings.signIn == SignInMethods(password: false, emailLink: true, anonymous: true))
      #expect(settings.members == #"{"monitoring":{}}"#)
      #expect(settings.userPermissions == UserPermissions(signUp: false, deletion: false))
      #expect(settings.passwords == PasswordPolicy(isEnforced: true, shortest: 9))
      #expect(settings.passwordsChangedAt == instance.now && !settings.changesNeedFactor)
      let found = try await instance.identity.pools.existingSettings(
        project: pool.project, tenant: pool.tenant)
      #expect(found.edit == settings.edit)
      let row = try #require(try await instance.log(pool).first)
      #expect(row.action == (isTenant ? .tenantChange : .projectChange))
      #expect(row.new(.changesNeedFactor) == .flag(false) && row.new(.signIn) == .flag(false))
    }
  }

  @Test func `project-only settings don't apply to a tenant`() async throws {
    try await withInstance { instance in
      let east = instance.east
      let before = try await instance.identity.pools.existingSettings(
        project: east.project, tenant: east.tenant)
      let rows = try await instance.wholeLog().count
      let settings = try await instance.identity.pools.existingSettings(project: east.project)
        .project
      let after = try await instance.identity.pools.update(
        project: east.project, tenant: east.tenant, by: .program(Instance.boss)
      ) { edit in
        edit.project = settings
        edit.project?.authorizedDomains = ["evil.example"]
        edit.project?.expiresAnonymous = true
        edit.signIn.phone = true
      }.value
      #expect(after.edit == before.edit && after.project == nil && !after.signIn.phone)
      #expect(try await instance.wholeLog().count == rows)
      #expect(
        try await instance.identity.pools.existingSettings(project: east.project).project
          == settings)
    }
  }

  @Test func `an edit without project settings leaves them unchanged`() async throws {
    try await withInstance { instance in
      let acme = instance.acme.project
      let before = try await instance.identity.pools.existingSettings(project: acme)
      let after = try await instance.identity.pools.update(
        project: acme, by: .program(Instance.boss)
      ) {
        $0.project = nil
      }.value
      #expect(after.edit == before.edit && after.project != nil)
    }
  }

  @Test func `a tenant inherits email enumeration protection until it sets its own`() async throws {
    try await withInstance { instance in
      let (pools, east) = (instance.identity.pools, instance.east)
      func hidesUsers() async throws -> Bool {
        let settings = try await pools.existingSettings(project: east.project, tenant: east.tenant)
        #expect(try await instance.identity.pools.hidesUsers(east) == settings.hidesUsers)
        return settings.hidesUsers
      }
      #expect(try await hidesUsers())
      _ = try await pools.update(project: east.project, by: .program(Instance.boss)) {
        $0.emailPrivacy = false
      }
      #expect(try await !hidesUsers())
      _ = try await pools.update(
        project: east.project, tenant: east.tenant, by: .program(Instance.boss)
      ) {
        $0.emailPrivacy = true
      }
      #expect(try await hidesUsers())
    }
  }
}
