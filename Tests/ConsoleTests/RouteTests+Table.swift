extension RouteTests {
  /// Each route with the access that it requires.
  static let table = poolTable + "\n" + instanceTable

  /// The routes of projects and tenants, and those declared with them.
  static let poolTable = """
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
    GET /projects/{String}/policy-templates/{String}/removal: changePolicy in the project
    POST /projects/{String}/policy-templates/{String}/removal: changePolicy in the project
    GET /projects/{String}/review: seeScope in some of the project
    GET /projects/{String}/review.csv: seeScope in some of the project
    GET /review: readPolicy somewhere
    GET /review.csv: readPolicy somewhere
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
    GET /reports/dormant-administrators: seeAdministrators on the instance
    GET /reports/dormant-administrators.csv: seeAdministrators on the instance
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
    GET /projects/{String}/support/blocked-agents/{String}: protectUsers
    GET /projects/{String}/tenants/{String}/support/blocked-agents/{String}: protectUsers
    POST /projects/{String}/support/blocked-agents/{String}: protectUsers
    POST /projects/{String}/tenants/{String}/support/blocked-agents/{String}: protectUsers
    GET /projects/{String}/users/{String}/data: exportUsers
    GET /projects/{String}/tenants/{String}/users/{String}/data: exportUsers
    POST /projects/{String}/users/{String}/data: exportUsers
    POST /projects/{String}/tenants/{String}/users/{String}/data: exportUsers
    GET /projects/{String}/users/{String}/erasure: changeUsers
    GET /projects/{String}/tenants/{String}/users/{String}/erasure: changeUsers
    POST /projects/{String}/users/{String}/erasure: changeUsers
    POST /projects/{String}/tenants/{String}/users/{String}/erasure: changeUsers
    GET /projects/{String}/erasure: changeUsers
    GET /projects/{String}/tenants/{String}/erasure: changeUsers
    POST /projects/{String}/erasure: changeUsers
    POST /projects/{String}/tenants/{String}/erasure: changeUsers
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
    GET /projects/{String}/bulk-removals/{String}/undo: removeFactors
    GET /projects/{String}/tenants/{String}/bulk-removals/{String}/undo: removeFactors
    POST /projects/{String}/bulk-removals/{String}/undo: removeFactors
    POST /projects/{String}/tenants/{String}/bulk-removals/{String}/undo: removeFactors
    """
}
