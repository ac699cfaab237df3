import Identity
import Localization

extension ConsoleAction {
  /// What submitting a form that performs the action does, like the title of its page; nil if it's a
  /// ``FormAction``, which has its name.
  var name: Message? {
    switch self {
    case .grantRole: Message("Grant role")
    case .revokeRole: Message("Revoke role")
    case .endAdministratorSessions: Message("End an administrator’s sessions")
    case .changeReauthenticationInterval: Message("Change re-authentication interval")
    case .changePasskeyRequirement: Message("Change passkey requirement")
    case .changeSignInProvider: Message("Change sign-in provider")
    case .confirmClock: Message("Confirm the time")
    case .changeSettings, .weakenSettings, .narrowSignIn: Message("Change settings")
    case .enableSignIn: Message("Enable sign-in")
    case .disableSignIn: Message("Disable sign-in")
    case .editGuidance: Message("Edit support playbook")
    case .changePolicy, .weakenPolicy: Message("Change MFA policy")
    case .signOffReview: Message("Sign off on review")
    case .createAPIKey: Message("Create API key")
    case .addIdentityProvider: Message("Add identity provider")
    case .changeIdentityProvider, .narrowProvider: Message("Change identity provider")
    case .openMessage: Message("Show message text")
    case .exportUsers: Message("Download users")
    case .createUser: Message("Create user")
    case .dismissAttention: Message("Dismiss")
    case .connectProject: Message("Connect project")
    case .pauseConnection: Message("Pause connection")
    case .syncConnection: Message("Sync now")
    case .changeSupportRules: Message("Change support rules")
    case .sendCallerCode: Message("Email a code to the caller")
    case .startCampaign: Message("Start enrollment campaign")
    case .previewBulkRemoval: Message("Preview bulk action")
    case .startBulkRemoval: Message("Start bulk action")
    case .stopBulkRemoval: Message("Stop bulk action")
    case .undoBulkRemoval: Message("Undo bulk action")
    case .approveRequest: Message("Approve request")
    case .rejectRequest: Message("Reject request")
    case .withdrawRequest: Message("Withdraw request")
    case .approvePolicyChange: Message("Approve policy change")
    case .rejectPolicyChange: Message("Reject policy change")
    case .withdrawPolicyChange: Message("Withdraw policy change")
    default: nil
    }
  }
}
