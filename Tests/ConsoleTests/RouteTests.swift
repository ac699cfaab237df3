import Identity
import Testing

@testable import Console

/// Every route and the access that it requires, in one readable table.
@Suite struct RouteTests {
  static let table = """
    GET /: session
    GET /projects/new: createProject on the instance
    POST /projects/new: createProject on the instance
    GET /projects/{String}: seeScope
    GET /projects/{String}/tenants/{String}: seeScope
    GET /projects/{String}/tenants: seeScope in some of the project
    GET /projects/{String}/tenants/new: manageTenants in the project
    POST /projects/{String}/tenants/new: manageTenants in the project
    GET /projects/{String}/policy: readPolicy
    GET /projects/{String}/tenants/{String}/policy: readPolicy
    POST /projects/{String}/policy: changePolicy
    POST /projects/{String}/tenants/{String}/policy: changePolicy
    POST /projects/{String}/policy/edit: changePolicy
    POST /projects/{String}/tenants/{String}/policy/edit: changePolicy
    POST /projects/{String}/policy/changes: changePolicy
    POST /projects/{String}/tenants/{String}/policy/changes: changePolicy
    GET /projects/{String}/policy/evidence.csv: readPolicy
    GET /projects/{String}/tenants/{String}/policy/evidence.csv: readPolicy
    GET /projects/{String}/policy/offsets.csv: readPolicy
    GET /projects/{String}/tenants/{String}/policy/offsets.csv: readPolicy
    GET /projects/{String}/policy/affected: findUsers
    GET /projects/{String}/tenants/{String}/policy/affected: findUsers
    POST /projects/{String}/policy/affected.csv: exportUsers
    POST /projects/{String}/tenants/{String}/policy/affected.csv: exportUsers
    POST /projects/{String}/policy/totp-state: changePolicy
    POST /projects/{String}/tenants/{String}/policy/totp-state: changePolicy
    GET /projects/{String}/policy/scheduled: readPolicy
    GET /projects/{String}/tenants/{String}/policy/scheduled: readPolicy
    POST /projects/{String}/policy/scheduled/{String}/cancellation: changePolicy
    POST /projects/{String}/tenants/{String}/policy/scheduled/{String}/cancellation: changePolicy
    GET /projects/{String}/policy/versions: readPolicy
    GET /projects/{String}/tenants/{String}/policy/versions: readPolicy
    GET /projects/{String}/policy-templates: readPolicy in the project
    POST /projects/{String}/policy-templates: changePolicy in the project
    GET /projects/{String}/policy-templates/{String}: changePolicy in the project
    POST /projects/{String}/policy-templates/{String}/application: changePolicy in the project
    POST /projects/{String}/policy-templates/{String}/removal: changePolicy in the project
    GET /projects/{String}/review: seeScope in some of the project
    GET /projects/{String}/review.csv: seeScope in some of the project
    GET /review: readPolicy somewhere
    GET /projects/{String}/review/sign-off: signOffReview in the project
    POST /projects/{String}/review/sign-off: signOffReview in the project
    GET /projects/{String}/review/evidence: signOffReview in the project
    GET /projects/{String}/review/evidence.json: signOffReview in the project
    GET /projects/{String}/reports: seeScope
    GET /projects/{String}/tenants/{String}/reports: seeScope
    POST /projects/{String}/reports/subscription: seeScope
    POST /projects/{String}/tenants/{String}/reports/subscription: seeScope
    GET /reports: seeScope somewhere
    POST /reports/subscription: seeScope somewhere
    POST /reports/subscriptions/{String}/cancellation: seeScope somewhere
    GET /reports/access: seeAdministrators on the instance
    GET /reports/access.csv: seeAdministrators on the instance
    GET /reports/removals: readAudit somewhere
    GET /reports/removals.csv: readAudit somewhere
    GET /projects/{String}/reports/enrollment: seeScope
    GET /projects/{String}/tenants/{String}/reports/enrollment: seeScope
    GET /projects/{String}/reports/enrollment.csv: seeScope
    GET /projects/{String}/tenants/{String}/reports/enrollment.csv: seeScope
    GET /projects/{String}/reports/removals: readAudit
    GET /projects/{String}/tenants/{String}/reports/removals: readAudit
    GET /projects/{String}/reports/removals.csv: readAudit
    GET /projects/{String}/tenants/{String}/reports/removals.csv: readAudit
    GET /projects/{String}/reports/exemptions: findUsers
    GET /projects/{String}/tenants/{String}/reports/exemptions: findUsers
    GET /projects/{String}/reports/exemptions.csv: findUsers
    GET /projects/{String}/tenants/{String}/reports/exemptions.csv: findUsers
    GET /projects/{String}/reports/locked: findUsers
    GET /projects/{String}/tenants/{String}/reports/locked: findUsers
    POST /projects/{String}/reports/locked.csv: exportUsers
    POST /projects/{String}/tenants/{String}/reports/locked.csv: exportUsers
    GET /projects/{String}/reports/factors: findUsers
    GET /projects/{String}/tenants/{String}/reports/factors: findUsers
    POST /projects/{String}/reports/factors.csv: exportUsers
    POST /projects/{String}/tenants/{String}/reports/factors.csv: exportUsers
    GET /projects/{String}/policy/comparison: readPolicy
    GET /projects/{String}/tenants/{String}/policy/comparison: readPolicy
    GET /exemptions: findUsers somewhere
    GET /exemptions.csv: findUsers somewhere
    GET /projects/{String}/users/{String}/exemption: protectUsers
    GET /projects/{String}/tenants/{String}/users/{String}/exemption: protectUsers
    POST /projects/{String}/users/{String}/exemption: protectUsers
    POST /projects/{String}/tenants/{String}/users/{String}/exemption: protectUsers
    GET /projects/{String}/users/{String}/exemption/end: protectUsers
    GET /projects/{String}/tenants/{String}/users/{String}/exemption/end: protectUsers
    POST /projects/{String}/users/{String}/exemption/end: protectUsers
    POST /projects/{String}/tenants/{String}/users/{String}/exemption/end: protectUsers
    GET /projects/{String}/users: findUsers
    GET /projects/{String}/tenants/{String}/users: findUsers
    POST /projects/{String}/users.csv: exportUsers
    POST /projects/{String}/tenants/{String}/users.csv: exportUsers
    GET /users: findUsers somewhere
    GET /projects/{String}/new-user: changeUsers
    GET /projects/{String}/tenants/{String}/new-user: changeUsers
    POST /projects/{String}/new-user: changeUsers
    POST /projects/{String}/tenants/{String}/new-user: changeUsers
    GET /projects/{String}/users/{String}: findUsers
    GET /projects/{String}/tenants/{String}/users/{String}: findUsers
    GET /projects/{String}/users/{String}/code-attempts: findUsers
    GET /projects/{String}/tenants/{String}/users/{String}/code-attempts: findUsers
    GET /projects/{String}/users/{String}/code-attempts.csv: findUsers
    GET /projects/{String}/tenants/{String}/users/{String}/code-attempts.csv: findUsers
    GET /projects/{String}/activity: findUsers
    GET /projects/{String}/tenants/{String}/activity: findUsers
    GET /projects/{String}/activity/enrollment.csv: seeScope
    GET /projects/{String}/tenants/{String}/activity/enrollment.csv: seeScope
    GET /projects/{String}/activity/attempts.csv: seeScope
    GET /projects/{String}/tenants/{String}/activity/attempts.csv: seeScope
    GET /projects/{String}/activity/rejections.csv: seeScope
    GET /projects/{String}/tenants/{String}/activity/rejections.csv: seeScope
    GET /projects/{String}/users/{String}/factors/{String}/removal: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/factors/{String}/removal: removeFactors
    POST /projects/{String}/users/{String}/factors/{String}/removal: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/factors/{String}/removal: removeFactors
    GET /projects/{String}/users/{String}/factors/removal: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/factors/removal: removeFactors
    POST /projects/{String}/users/{String}/factors/removal: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/factors/removal: removeFactors
    GET /projects/{String}/users/{String}/removals/{String}/undo: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/removals/{String}/undo: removeFactors
    POST /projects/{String}/users/{String}/removals/{String}/undo: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/removals/{String}/undo: removeFactors
    GET /projects/{String}/users/{String}/removals/{String}/purge: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/removals/{String}/purge: removeFactors
    POST /projects/{String}/users/{String}/removals/{String}/purge: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/removals/{String}/purge: removeFactors
    GET /projects/{String}/users/{String}/factors/{String}/suspension: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/factors/{String}/suspension: removeFactors
    POST /projects/{String}/users/{String}/factors/{String}/suspension: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/factors/{String}/suspension: removeFactors
    GET /projects/{String}/users/{String}/factors/{String}/suspension/end: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/factors/{String}/suspension/end: removeFactors
    POST /projects/{String}/users/{String}/factors/{String}/suspension/end: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/factors/{String}/suspension/end: removeFactors
    GET /projects/{String}/users/{String}/factors/{String}/name: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/factors/{String}/name: removeFactors
    POST /projects/{String}/users/{String}/factors/{String}/name: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/factors/{String}/name: removeFactors
    GET /projects/{String}/users/{String}/notes/new: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/notes/new: removeFactors
    POST /projects/{String}/users/{String}/notes/new: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/notes/new: removeFactors
    GET /projects/{String}/users/{String}/notes/{String}/removal: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/notes/{String}/removal: removeFactors
    POST /projects/{String}/users/{String}/notes/{String}/removal: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/notes/{String}/removal: removeFactors
    GET /projects/{String}/users/{String}/unlock: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/unlock: removeFactors
    POST /projects/{String}/users/{String}/unlock: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/unlock: removeFactors
    GET /projects/{String}/users/{String}/sessions/end: endSessions
    GET /projects/{String}/tenants/{String}/users/{String}/sessions/end: endSessions
    POST /projects/{String}/users/{String}/sessions/end: endSessions
    POST /projects/{String}/tenants/{String}/users/{String}/sessions/end: endSessions
    GET /projects/{String}/users/{String}/protection: protectUsers
    GET /projects/{String}/tenants/{String}/users/{String}/protection: protectUsers
    POST /projects/{String}/users/{String}/protection: protectUsers
    POST /projects/{String}/tenants/{String}/users/{String}/protection: protectUsers
    GET /projects/{String}/users/{String}/allowed-changes: protectUsers
    GET /projects/{String}/tenants/{String}/users/{String}/allowed-changes: protectUsers
    POST /projects/{String}/users/{String}/allowed-changes: protectUsers
    POST /projects/{String}/tenants/{String}/users/{String}/allowed-changes: protectUsers
    GET /projects/{String}/users/{String}/disabling: changeUsers
    GET /projects/{String}/tenants/{String}/users/{String}/disabling: changeUsers
    POST /projects/{String}/users/{String}/disabling: changeUsers
    POST /projects/{String}/tenants/{String}/users/{String}/disabling: changeUsers
    GET /projects/{String}/users/{String}/enabling: changeUsers
    GET /projects/{String}/tenants/{String}/users/{String}/enabling: changeUsers
    POST /projects/{String}/users/{String}/enabling: changeUsers
    POST /projects/{String}/tenants/{String}/users/{String}/enabling: changeUsers
    GET /projects/{String}/users/{String}/verification: changeUsers
    GET /projects/{String}/tenants/{String}/users/{String}/verification: changeUsers
    POST /projects/{String}/users/{String}/verification: changeUsers
    POST /projects/{String}/tenants/{String}/users/{String}/verification: changeUsers
    GET /projects/{String}/users/{String}/deletion: changeUsers
    GET /projects/{String}/tenants/{String}/users/{String}/deletion: changeUsers
    POST /projects/{String}/users/{String}/deletion: changeUsers
    POST /projects/{String}/tenants/{String}/users/{String}/deletion: changeUsers
    POST /projects/{String}/users/{String}/caller-code: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/caller-code: removeFactors
    GET /projects/{String}/settings/support: seeScope
    GET /projects/{String}/tenants/{String}/settings/support: seeScope
    POST /projects/{String}/settings/support: editSupportRules
    POST /projects/{String}/tenants/{String}/settings/support: editSupportRules
    GET /projects/{String}/support/release/{String}: protectUsers
    GET /projects/{String}/tenants/{String}/support/release/{String}: protectUsers
    POST /projects/{String}/support/release/{String}: protectUsers
    POST /projects/{String}/tenants/{String}/support/release/{String}: protectUsers
    GET /projects/{String}/bulk-removals: removeFactors
    GET /projects/{String}/tenants/{String}/bulk-removals: removeFactors
    POST /projects/{String}/bulk-removals: removeFactors
    POST /projects/{String}/tenants/{String}/bulk-removals: removeFactors
    GET /projects/{String}/bulk-removals/{String}: removeFactors
    GET /projects/{String}/tenants/{String}/bulk-removals/{String}: removeFactors
    POST /projects/{String}/bulk-removals/{String}: removeFactors
    POST /projects/{String}/tenants/{String}/bulk-removals/{String}: removeFactors
    POST /projects/{String}/bulk-removals/{String}/end: removeFactors
    POST /projects/{String}/tenants/{String}/bulk-removals/{String}/end: removeFactors
    GET /projects/{String}/bulk-removals/{String}/result.csv: removeFactors
    GET /projects/{String}/tenants/{String}/bulk-removals/{String}/result.csv: removeFactors
    GET /bulk-removals: removeFactors somewhere
    POST /bulk-removals: removeFactors somewhere
    GET /bulk-removals/{String}: removeFactors somewhere
    POST /bulk-removals/{String}: removeFactors somewhere
    POST /bulk-removals/{String}/end: removeFactors somewhere
    GET /bulk-removals/{String}/undo: removeFactors somewhere
    POST /bulk-removals/{String}/undo: removeFactors somewhere
    GET /approvals: seeApprovals somewhere
    GET /projects/{String}/approvals/{String}: removeFactors
    GET /projects/{String}/tenants/{String}/approvals/{String}: removeFactors
    POST /projects/{String}/approvals/{String}/approval: removeFactors
    POST /projects/{String}/tenants/{String}/approvals/{String}/approval: removeFactors
    POST /projects/{String}/approvals/{String}/rejection: removeFactors
    POST /projects/{String}/tenants/{String}/approvals/{String}/rejection: removeFactors
    POST /projects/{String}/approvals/{String}/withdrawal: removeFactors
    POST /projects/{String}/tenants/{String}/approvals/{String}/withdrawal: removeFactors
    GET /projects/{String}/policy-approvals/{String}: changePolicy
    GET /projects/{String}/tenants/{String}/policy-approvals/{String}: changePolicy
    POST /projects/{String}/policy-approvals/{String}/approval: changePolicy
    POST /projects/{String}/tenants/{String}/policy-approvals/{String}/approval: changePolicy
    POST /projects/{String}/policy-approvals/{String}/rejection: changePolicy
    POST /projects/{String}/tenants/{String}/policy-approvals/{String}/rejection: changePolicy
    POST /projects/{String}/policy-approvals/{String}/withdrawal: changePolicy
    POST /projects/{String}/tenants/{String}/policy-approvals/{String}/withdrawal: changePolicy
    GET /projects/{String}/users/{String}/temporary-code: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/temporary-code: removeFactors
    POST /projects/{String}/users/{String}/temporary-code: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/temporary-code: removeFactors
    GET /projects/{String}/users/{String}/temporary-code/shown: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/temporary-code/shown: removeFactors
    GET /projects/{String}/users/{String}/temporary-code/removal: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/temporary-code/removal: removeFactors
    POST /projects/{String}/users/{String}/temporary-code/removal: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/temporary-code/removal: removeFactors
    GET /projects/{String}/users/{String}/recovery-codes/removal: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/recovery-codes/removal: removeFactors
    POST /projects/{String}/users/{String}/recovery-codes/removal: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/recovery-codes/removal: removeFactors
    GET /projects/{String}/users/{String}/enrollment-link: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/enrollment-link: removeFactors
    POST /projects/{String}/users/{String}/enrollment-link: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/enrollment-link: removeFactors
    GET /__/auth/enroll: open
    POST /__/auth/enroll: open
    GET /projects/{String}/settings: seeScope
    GET /projects/{String}/tenants/{String}/settings: seeScope
    POST /projects/{String}/settings: changeScope
    POST /projects/{String}/tenants/{String}/settings: changeScope
    GET /projects/{String}/settings/sign-in-methods: seeScope
    GET /projects/{String}/tenants/{String}/settings/sign-in-methods: seeScope
    POST /projects/{String}/settings/sign-in-methods: changeScope
    POST /projects/{String}/tenants/{String}/settings/sign-in-methods: changeScope
    GET /projects/{String}/settings/sign-in: changeScope
    GET /projects/{String}/tenants/{String}/settings/sign-in: changeScope
    POST /projects/{String}/settings/sign-in/disabling: changeScope
    POST /projects/{String}/tenants/{String}/settings/sign-in/disabling: changeScope
    POST /projects/{String}/settings/sign-in/enabling: changeScope
    POST /projects/{String}/tenants/{String}/settings/sign-in/enabling: changeScope
    GET /projects/{String}/settings/keys: manageKeys
    GET /projects/{String}/tenants/{String}/settings/keys: manageKeys
    POST /projects/{String}/settings/keys: manageKeys in the project
    GET /projects/{String}/settings/keys/{String}/revocation: manageKeys in the project
    POST /projects/{String}/settings/keys/{String}/revocation: manageKeys in the project
    GET /projects/{String}/settings/tokens/new: manageKeys
    GET /projects/{String}/tenants/{String}/settings/tokens/new: manageKeys
    POST /projects/{String}/settings/tokens/new: manageKeys
    POST /projects/{String}/tenants/{String}/settings/tokens/new: manageKeys
    GET /projects/{String}/settings/tokens/{String}/revocation: manageKeys
    GET /projects/{String}/tenants/{String}/settings/tokens/{String}/revocation: manageKeys
    POST /projects/{String}/settings/tokens/{String}/revocation: manageKeys
    POST /projects/{String}/tenants/{String}/settings/tokens/{String}/revocation: manageKeys
    GET /projects/{String}/settings/providers: seeScope
    GET /projects/{String}/tenants/{String}/settings/providers: seeScope
    GET /projects/{String}/settings/providers/new: manageTrust
    GET /projects/{String}/tenants/{String}/settings/providers/new: manageTrust
    POST /projects/{String}/settings/providers/new: manageTrust
    POST /projects/{String}/tenants/{String}/settings/providers/new: manageTrust
    GET /projects/{String}/settings/providers/{String}: seeScope
    GET /projects/{String}/tenants/{String}/settings/providers/{String}: seeScope
    POST /projects/{String}/settings/providers/{String}: manageTrust
    POST /projects/{String}/tenants/{String}/settings/providers/{String}: manageTrust
    GET /projects/{String}/settings/providers/{String}/removal: manageTrust
    GET /projects/{String}/tenants/{String}/settings/providers/{String}/removal: manageTrust
    POST /projects/{String}/settings/providers/{String}/removal: manageTrust
    POST /projects/{String}/tenants/{String}/settings/providers/{String}/removal: manageTrust
    GET /projects/{String}/settings/custom-token-keys: readPolicy in the project
    GET /projects/{String}/settings/custom-token-keys/{String}/revocation: manageTrust in the project
    POST /projects/{String}/settings/custom-token-keys/{String}/revocation: manageTrust in the project
    GET /projects/{String}/settings/custom-token-keys/new: manageTrust in the project
    POST /projects/{String}/settings/custom-token-keys/new: manageTrust in the project
    GET /projects/{String}/settings/deletion: deleteProject in the project
    POST /projects/{String}/settings/deletion: deleteProject in the project
    GET /projects/{String}/tenants/{String}/settings/deletion: manageTenants in its project
    POST /projects/{String}/tenants/{String}/settings/deletion: manageTenants in its project
    GET /projects/{String}/audit: readAudit
    GET /projects/{String}/tenants/{String}/audit: readAudit
    GET /projects/{String}/audit.csv: readAudit
    GET /projects/{String}/tenants/{String}/audit.csv: readAudit
    GET /audit: readAudit on the instance
    GET /audit.csv: readAudit on the instance
    GET /audit/retention: manageAdministrators on the instance
    POST /audit/retention: manageAdministrators on the instance
    GET /projects/{String}/outbox: findUsers
    GET /projects/{String}/tenants/{String}/outbox: findUsers
    GET /projects/{String}/outbox/{String}: findUsers
    GET /projects/{String}/tenants/{String}/outbox/{String}: findUsers
    POST /projects/{String}/outbox/{String}/text: readMessages
    POST /projects/{String}/tenants/{String}/outbox/{String}/text: readMessages
    GET /projects/{String}/guidance: seeScope
    GET /projects/{String}/tenants/{String}/guidance: seeScope
    GET /projects/{String}/guidance/edit: changeScope
    GET /projects/{String}/tenants/{String}/guidance/edit: changeScope
    POST /projects/{String}/guidance/edit: changeScope
    POST /projects/{String}/tenants/{String}/guidance/edit: changeScope
    POST /projects/{String}/guidance/versions: changeScope
    POST /projects/{String}/tenants/{String}/guidance/versions: changeScope
    GET /guidance: session
    GET /guidance/{String}: session
    GET /what-if: findUsers somewhere
    GET /administrators: seeAdministrators on the instance
    POST /administrators/step-up: protectUsers on the instance
    GET /invitations/{String}/removal: manageAdministrators on the instance
    POST /invitations/{String}/removal: manageAdministrators on the instance
    GET /administrators/new: manageAdministrators on the instance
    POST /administrators/new: manageAdministrators on the instance
    GET /administrators/{String}: seeAdministrators on the instance
    POST /administrators/{String}/grants: manageAdministrators on the instance
    GET /administrators/{String}/grants/removal: manageAdministrators on the instance
    POST /administrators/{String}/grants/removal: manageAdministrators on the instance
    GET /administrators/{String}/factor-reset: manageAdministrators on the instance
    POST /administrators/{String}/factor-reset: manageAdministrators on the instance
    GET /administrators/{String}/removal: manageAdministrators on the instance
    POST /administrators/{String}/removal: manageAdministrators on the instance
    GET /invitation: open
    POST /invitation: open
    GET /clock: protectUsers on the instance
    POST /clock: protectUsers on the instance
    GET /account: session
    POST /account/sessions: session
    POST /account/sessions/others: session
    GET /account/preferences: session
    POST /account/preferences: session
    GET /account/password: session
    POST /account/password: session
    GET /account/totp: session, also before a second factor
    POST /account/totp: session, also before a second factor
    GET /account/totp/removal: session
    POST /account/totp/removal: session
    GET /account/recovery-codes: session
    POST /account/recovery-codes: session
    GET /sign-out: session, also before a second factor
    POST /sign-out: session, also before a second factor
    GET /setup: open
    POST /setup: open
    GET /__/auth/action: open
    POST /__/auth/action: open
    GET /__/auth/not-me: open
    POST /__/auth/not-me: open
    GET /sign-in: open
    POST /sign-in: open
    GET /sign-in/answers: session
    GET /sign-in/code: open
    POST /sign-in/code: open
    """

  @Test func `every route requires what the table says`() async throws {
    try await World.empty { world in
      let lines = world.console.routes.map { "\($0.route): \($0.access.words)" }
      #expect(lines.joined(separator: "\n") == Self.table)
    }
  }
}

extension ConsoleRoute.Access {
  fileprivate var words: String {
    switch self {
    case .open: "open"
    case .settingUp: "session, also before a second factor"
    case .signedIn(nil): "session"
    case .signedIn(let permission?): "\(permission) on the instance"
    case .somewhere(let permission): "\(permission) somewhere"
    case .project(.seeScope): "seeScope in some of the project"
    case .project(let permission): "\(permission) in the project"
    case .projectOfTenant(let permission): "\(permission) in its project"
    case .scope(let permission): "\(permission)"
    }
  }
}
