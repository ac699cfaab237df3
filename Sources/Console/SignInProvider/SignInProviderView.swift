import HTTP
import Identity
import Localization
import MailText
import Templating

/// What a mapping of groups would change.
struct SignInProviderPreview: Sendable {
  let groups: [String]
  let grants: [Grant]
  var subject: String?
  var change: ProviderRoleChange?
  var changes: [ProviderRoleChange] = []
}

struct SignInProviderView: ViewModel {
  let frame: FrameView
  let csrf: String
  let answers: SignInProviderAnswers
  let stored: ConsoleProvider?
  /// The provider that someone else saved after the form was opened, without values if they removed
  /// it; nil if no one did.
  let current: ConsoleProvider?
  let places: [(value: String, text: Message)]?
  let origin: String
  /// The changes of roles that saving would make and that have to be confirmed.
  let changes: [ProviderRoleChange]
  let preview: SignInProviderPreview?
  let fields: ActionFields

  private var confirmed: String? {
    let pending = changes.isEmpty ? preview?.changes ?? [] : changes
    return pending.isEmpty ? nil : pending.digest
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("settingsVersion") { $0.answers.version.text },
    .optional("conflict") { view in
      view.current.map { current in
        SettingsConflict(
          Message("sign-in-provider.changed-meanwhile"), current: current.facts,
          entered: view.answers.provider.provider.facts,
          discard: ConsolePaths.signInProvider())
      }
    },
    .text("action") { _ in ConsolePaths.signInProvider() },
    .text("previewAction") { _ in ConsolePaths.signInProviderPreview() },
    .text("removal") { $0.stored == nil ? nil : ConsolePaths.signInProviderRemoval() },
    .text("passwordSignIn") { $0.stored == nil ? nil : ConsolePaths.passwordSignIn() },
    .text("back") { _ in ConsolePaths.administrators() },
    .text("redirect") { $0.origin + ConsolePaths.providerCallback() },
    .text("logout") { $0.origin + ConsolePaths.providerLogout() },
    .text("name") { $0.answers.name },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("issuer") { $0.answers.issuer },
    .text("issuerError") { $0.frame.error(at: "issuer") },
    .text("clientID") { $0.answers.clientID },
    .text("clientIDError") { $0.frame.error(at: "client-id") },
    .flag("hasSecret") { $0.stored?.hasSecret ?? false },
    .text("clientSecretError") { $0.frame.error(at: "client-secret") },
    .optional("lostSecret") { view in
      LostSecret(
        view.answers.secret,
        label: view.stored?.hasSecret == true
          ? Message("sign-in-provider.keep-client-secret")
          : Message("sign-in-provider.leave-client-secret-empty"))
    },
    .text("scopes") { $0.answers.scopes },
    .text("scopesError") { $0.frame.error(at: "scopes") },
    .text("groupsClaim") { $0.answers.groupsClaim },
    .text("groupsClaimError") { $0.frame.error(at: "groups-claim") },
    .text("mfaValues") { $0.answers.mfaValues },
    .text("mfaValuesError") { $0.frame.error(at: "mfa-values") },
    .list("rows") { view in
      view.answers.shownRows.enumerated().map { index, row in
        GroupRoleRow(number: index + 1, row: row, places: view.places, frame: view.frame)
      }
    },
    .text("previewGroups") { $0.answers.previewGroups },
    .text("previewSubject") { $0.answers.previewSubject },
    .flag("hasChanges") { !$0.changes.isEmpty },
    .list("changes") { $0.changes.map { RoleChangeRow(change: $0) } },
    .text("confirmed") { $0.confirmed },
    .optional("preview") { view in view.preview.map { PreviewView(preview: $0) } },
    .object("authorization") { $0.fields },
  ]
}

/// A row of the form: a group, its role, and where the role applies.
struct GroupRoleRow: ViewModel {
  let number: Int
  let row: SignInProviderAnswers.Row
  let places: [(value: String, text: Message)]?
  let frame: FrameView

  static let keys: Keys<Self> = [
    .text("number") { String($0.number) },
    .text("group") { $0.row.group },
    .text("groupError") { $0.frame.error(at: "group-\($0.number)") },
    .list("roles") { row in
      Role.allCases.map {
        Choice(value: $0.rawValue, text: $0.title, isChosen: $0.rawValue == row.row.role)
      }
    },
    .text("roleError") { $0.frame.error(at: "role-\($0.number)") },
    .flag("hasPlaces") { $0.places != nil },
    .list("places") { row in
      row.places.map { Places.options($0, chosen: row.row.place.text) } ?? []
    },
    .text("place") { $0.row.place.text },
    .text("placeError") { $0.frame.error(at: "place-\($0.number)") },
  ]
}

/// The roles that an administrator gets and loses.
struct RoleChangeRow: ViewModel {
  let change: ProviderRoleChange

  static let keys: Keys<Self> = [
    .text("name") { $0.change.name },
    .text("href") { ConsolePaths.administrator($0.change.administrator.text) },
    .list("granted") { $0.change.granted.map { GrantLine(grant: $0) } },
    .list("revoked") { $0.change.revoked.map { GrantLine(grant: $0) } },
    .flag("isEmpty") { $0.change.granted.isEmpty && $0.change.revoked.isEmpty },
  ]
}

/// A role and where it applies.
struct GrantLine: ViewModel {
  let grant: Grant

  static let keys: Keys<Self> = [
    .markup("role") { $0.grant.place }
  ]
}

/// The result of the preview.
struct PreviewView: ViewModel {
  let preview: SignInProviderPreview

  static let keys: Keys<Self> = [
    .flag("hasGroups") { !$0.preview.groups.isEmpty },
    .list("grants") { view in
      view.preview.grants.sorted { $0.order < $1.order }.map { GrantLine(grant: $0) }
    },
    .flag("hasGrants") { !$0.preview.grants.isEmpty },
    .text("subject") { $0.preview.subject },
    .optional("person") { view in view.preview.change.map { RoleChangeRow(change: $0) } },
    .flag("isUnknown") { $0.preview.subject != nil && $0.preview.change == nil },
    .list("changes") { $0.preview.changes.map { RoleChangeRow(change: $0) } },
    .flag("hasChanges") { !$0.preview.changes.isEmpty },
  ]
}

extension Grant {
  /// The order of the place, and then of the role.
  fileprivate var order: (String, String, Int) {
    (project?.text ?? "", tenant?.text ?? "", Role.allCases.firstIndex(of: role) ?? 0)
  }
}
