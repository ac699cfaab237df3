public import Localization

// Pages and commands, which have different apostrophes, show these texts, so they have none.

extension RemoteFault {
  /// Returns a sentence that says what's wrong, and what to do about it.
  public func message(at project: RemoteProject) -> Message {
    let server = Message.Value.text(project.server)
    let isGoogle = project.kind == .identityPlatform
    return switch cause {
    case .clock(let seconds) where seconds < 0:
      Message(
        one: "The clock of this server is {count} second behind that of {server}. Set it.",
        other: "The clock of this server is {count} seconds behind that of {server}. Set it.",
        ["server": server, "count": .number(-seconds)])
    case .clock(let seconds):
      Message(
        one: "The clock of this server is {count} second ahead of that of {server}. Set it.",
        other: "The clock of this server is {count} seconds ahead of that of {server}. Set it.",
        ["server": server, "count": .number(seconds)])
    case .keyDeleted(let id):
      Message(
        "Google rejects the key {key}. Create another one, or wait two minutes if it is new.",
        ["key": .text(id)])
    case .accountGone(let email):
      Message(
        "The service account {account} is deleted or disabled. Enable it, or use another one.",
        ["account": .text(email)])
    case .notServiceAccount(let email):
      Message(
        "{account} is no service account of an existing project. Create a key for one that exists.",
        ["account": .text(email)])
    case .invalidEmail:
      Message("The client_email of the key is invalid. Download a new key from Google.")
    case .apiOff(let project):
      Message(
        "The Identity Toolkit API is off in {project}. Turn it on, and wait a few minutes: {link}",
        ["project": .text(project), "link": .text(RemoteHost.activation + project)])
    case .neverSetUp:
      Message("Authentication was never set up in this project. Do so in the Firebase console.")
    case .noIdentityPlatform:
      Message(
        "Firebase Authentication alone has no second factors. Upgrade it to Identity Platform.")
    case .projectGone:
      Message(
        "{server} has no project {project}. Check the ID, and whether the project was deleted.",
        ["server": server, "project": .text(project.id)])
    case .tenantsOff: Message("The project has no tenants, since multi-tenancy is off.")
    case .tenantDisabled:
      Message(
        "{server} returns no users while the tenant is disabled. Here they stay as they were.",
        ["server": server])
    case .tenantGone: Message("The tenant was deleted.")
    case .permissionMissing(let name) where isGoogle:
      Message(
        "The service account lacks {permission}. Add it to its role, and wait a few minutes.",
        ["permission": .text(name)])
    case .permissionMissing(let role):
      Message(
        "The service token lacks the role {role} in {project}. Create a token with it there.",
        ["role": .text(role), "project": .text(project.id)])
    case .quotaProject:
      Message(
        "The service account may not use the quota of {project}. Grant it {role} there.",
        ["project": .text(project.id), "role": .text("roles/serviceusage.serviceUsageConsumer")])
    case .quota(let seconds):
      Message(
        one: "{server} wants fewer requests. Try again in {count} second.",
        other: "{server} wants fewer requests. Try again in {count} seconds.",
        ["server": server, "count": .number(seconds)])
    case .beyondAccess(let level):
      Message(
        "This requires the access level {level}. Replace the credential, and raise the level.",
        ["level": .text(level.rawValue)])
    case .unauthorized where isGoogle:
      Message("Google rejects the access token. Check whether the service account is enabled.")
    case .unauthorized:
      Message(
        "{server} rejects the service token: it was revoked or never valid. Create a new one.",
        ["server": server])
    case .unreachable:
      Message(
        "{server} is unreachable. Check the firewall and the proxy. What is here stays as it is.",
        ["server": server])
    case .addressRefused:
      Message(
        "The address of {server} is private. If that is right, allow it with {option}.",
        ["server": server, "option": .text("--outbound-allow")])
    case .untrusted:
      Message(
        "The certificate of {server} is not trusted. Name its authority with {option}.",
        ["server": server, "option": .text("--outbound-ca")])
    case .tooLarge:
      Message("The smallest response of {server} is larger than 16 MiB.", ["server": server])
    case .unreadable:
      Message(
        "What answers for {server} is no Identity Toolkit API. Check the address and the proxy.",
        ["server": server])
    case .factorRefused:
      Message(
        """
        {server} does not keep an authenticator app while another factor is removed. Remove all \
        factors instead.
        """, ["server": server])
    case .unknownFactor:
      Message(
        """
        The user has a factor of a kind that cannot be sent back to {server}. Remove all factors \
        instead.
        """, ["server": server])
    case .other(let code):
      Message(
        "{server} rejected the request: {error}.", ["server": server, "error": .text(code)])
    }
  }
}

extension RemoteCredentialError {
  /// A sentence that says what's wrong with a credential.
  public var message: Message {
    switch self {
    case .notJSON:
      Message("The key is no JSON file of Google, was cut off, or is larger than 16 KiB.")
    case .otherType(let type):
      Message(
        "This is a credential of the type {type}. Use the key of a service account.",
        ["type": .text(type)])
    case .otherUniverse(let universe):
      Message("The key is for {universe}, not for googleapis.com.", ["universe": .text(universe)])
    case .invalid(let member):
      Message("The key has no valid {member}. Download it again.", ["member": .text(member)])
    case .invalidKey: Message("The private key was cut off or changed. Download it again.")
    case .notToken: Message("A service token of Countersign begins with cst_.")
    }
  }
}
