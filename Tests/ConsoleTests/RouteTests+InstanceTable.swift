extension RouteTests {
  /// The routes of the instance.
  static let instanceTable = """
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
    GET /projects/{String}/users/{String}/bounces: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/bounces: removeFactors
    POST /projects/{String}/users/{String}/bounces: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/bounces: removeFactors
    GET /projects/{String}/users/{String}/working-address: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/working-address: removeFactors
    POST /projects/{String}/users/{String}/working-address: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/working-address: removeFactors
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
    GET /projects/{String}/email-templates: seeScope
    GET /projects/{String}/tenants/{String}/email-templates: seeScope
    GET /projects/{String}/email-templates/{String}: seeScope
    GET /projects/{String}/tenants/{String}/email-templates/{String}: seeScope
    POST /projects/{String}/email-templates/{String}: changeLinks
    POST /projects/{String}/tenants/{String}/email-templates/{String}: changeLinks
    POST /projects/{String}/email-templates/{String}/preview: changeLinks
    POST /projects/{String}/tenants/{String}/email-templates/{String}/preview: changeLinks
    POST /projects/{String}/email-templates/{String}/test: changeLinks
    POST /projects/{String}/tenants/{String}/email-templates/{String}/test: changeLinks
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
    GET /event-streams: manageAdministrators on the instance
    GET /event-streams/new: manageAdministrators on the instance
    POST /event-streams/new: manageAdministrators on the instance
    GET /event-streams/{String}: manageAdministrators on the instance
    POST /event-streams/{String}/test: manageAdministrators on the instance
    POST /event-streams/{String}/rejected-entries/{String}/retry: manageAdministrators on the instance
    GET /event-streams/{String}/settings: manageAdministrators on the instance
    POST /event-streams/{String}/settings: manageAdministrators on the instance
    GET /event-streams/{String}/pause: manageAdministrators on the instance
    POST /event-streams/{String}/pause: manageAdministrators on the instance
    GET /event-streams/{String}/resumption: manageAdministrators on the instance
    POST /event-streams/{String}/resumption: manageAdministrators on the instance
    GET /event-streams/{String}/deletion: manageAdministrators on the instance
    POST /event-streams/{String}/deletion: manageAdministrators on the instance
    GET /event-streams/{String}/rejected-entries/{String}/removal: manageAdministrators on the instance
    POST /event-streams/{String}/rejected-entries/{String}/removal: manageAdministrators on the instance
    GET /projects/{String}/messages: findUsers
    GET /projects/{String}/tenants/{String}/messages: findUsers
    GET /projects/{String}/messages/{String}: findUsers
    GET /projects/{String}/tenants/{String}/messages/{String}: findUsers
    POST /projects/{String}/messages/{String}/text: readMessages
    POST /projects/{String}/tenants/{String}/messages/{String}/text: readMessages
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
    GET /sign-in-simulator: findUsers somewhere
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
    GET /administrators/{String}/grants/end: manageAdministrators on the instance
    POST /administrators/{String}/grants/end: manageAdministrators on the instance
    GET /administrators/{String}/sessions: manageAdministrators on the instance
    POST /administrators/{String}/sessions: manageAdministrators on the instance
    POST /administrators/{String}/sessions/removal: manageAdministrators on the instance
    GET /administrators/session-limits: manageAdministrators on the instance
    POST /administrators/session-limits: manageAdministrators on the instance
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
    POST /account/session-extension: session, also before a second factor
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
    GET /account/passkeys/new: session, also before a second factor
    POST /account/passkeys/new: session, also before a second factor
    GET /account/passkeys/{String}: session
    POST /account/passkeys/{String}: session
    GET /account/passkeys/{String}/removal: session
    POST /account/passkeys/{String}/removal: session
    GET /administrators/passkeys: manageAdministrators on the instance
    POST /administrators/passkeys: manageAdministrators on the instance
    GET /administrators/sign-in-provider: manageAdministrators on the instance
    POST /administrators/sign-in-provider: manageAdministrators on the instance
    POST /administrators/sign-in-provider/preview: manageAdministrators on the instance
    GET /administrators/sign-in-provider/removal: manageAdministrators on the instance
    POST /administrators/sign-in-provider/removal: manageAdministrators on the instance
    GET /administrators/password-sign-in: manageAdministrators on the instance
    POST /administrators/password-sign-in: manageAdministrators on the instance
    GET /account/provider: session
    POST /account/provider: session
    GET /account/provider/removal: session
    POST /account/provider/removal: session
    POST /sign-in/provider/logout: open
    GET /sign-out: session, also before a second factor
    POST /sign-out: session, also before a second factor
    GET /setup: open
    POST /setup: open
    GET /__/auth/action: open
    POST /__/auth/action: open
    GET /__/auth/not-me: open
    POST /__/auth/not-me: open
    GET /account/reauthentication: session, also before a second factor
    POST /account/reauthentication: session, also before a second factor
    GET /account/reauthentication/passkey: session, also before a second factor
    POST /account/reauthentication/passkey: session, also before a second factor
    GET /sign-in/provider: open
    GET /sign-in/provider/callback: open
    GET /account/reauthentication/provider: session, also before a second factor
    POST /account/reauthentication/provider: session, also before a second factor
    GET /sign-in: open
    POST /sign-in: open
    GET /sign-in/answers: session
    GET /sign-in/code: open
    POST /sign-in/code: open
    GET /sign-in/passkey: open
    POST /sign-in/passkey: open
    GET /sign-in/code/passkey: open
    POST /sign-in/code/passkey: open
    """
}
