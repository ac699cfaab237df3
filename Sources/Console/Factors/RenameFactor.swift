import HTTP
import Identity
import Localization

/// `S/users/{uid}/factors/{enrollment}/name`: renames a factor.
///
/// The query can prefill the name, as the Undo link after a rename does.
struct RenameFactor: UserAction {
  static let action = ConsoleAction.renameFactor
  static let name = Message("Rename factor")
  static let path = PoolPath2("users", nil, "factors", nil, "name")
  let identity: Identity

  static func label(_ offer: UserOffer) -> Message {
    Message("Rename {factor}…", ["factor": offer.name])
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let found = try await identity.factor(target)
    let heading = Message(
      "Rename “{factor}” for {user}?",
      [
        "factor": FactorText.name(found.factor),
        "user": found.account.shortLabel,
      ])
    let consequences = [
      Message("The user sees the new name at sign-in, where it identifies the device."),
      Message("Codes and sessions aren’t affected."),
      found.factor.displayName == nil
        ? Message(
          "The factor has no name yet. You can rename it later. The audit log keeps every name.")
        : Message("You can change the name back later. The audit log keeps both names."),
    ]
    var page = FormPage(
      found.account, in: target.pool, title: Self.name, heading: heading,
      consequences: consequences, button: Message("Rename factor"), isDestructive: false,
      factsHeading: Message("This factor"),
      facts: FactorText.facts(found.factor, target.times))
    page.notifies = true
    let asked = String(target.signedIn.query.trimmed("name").prefix(Factor.longestName))
    page.fields = [
      .line(
        "name", Message("Name"),
        hint: Message(
          "For example, the phone’s model. At most {longest} characters.",
          ["longest": .number(Factor.longestName)]),
        value: asked.isEmpty ? found.factor.displayName ?? "" : asked, detectsDirection: true)
    ]
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.support.rename(
      target.pool, target.user, ID(target.object), to: target.form.trimmed("name"), target.request)
    // A factor without a previous name has no name to restore.
    let undo = done.value.factor.displayName.map { old in
      let form = ["name": old] as Form
      return Link(text: Message("Undo"), href: form.query(of: target.address))
    }
    return FormEnd(
      Message(
        "Renamed factor “{old}” to “{new}”.",
        [
          "old": FactorText.name(done.value.factor),
          "new": .name(Formatted.short(done.value.name)),
        ]), link: undo, at: target.userPage, after: done)
  }
}
