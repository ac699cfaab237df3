import HTTP
import Identity
import Localization

/// `/administrators/{id}/grants/end`: changes when a role of an administrator ends.
struct ChangeGrantEnd: FormAction {
  static let action = ConsoleAction.grantRole
  static let name = Message("Grant role")
  static let path = Path("administrators", nil, "grants", "end", parameters: String.self)
  let identity: Identity

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let (signedIn, back) = (target.signedIn, ConsolePaths.administrator(target.object))
    let answers = GrantAnswers(signedIn.request.isReading ? signedIn.query : target.form)
    let record = try await identity.administrators.record(ID(target.object))
    let administrator = record.administrator
    guard let grant = record.changeable(answers, by: signedIn) else {
      throw target.elsewhere(back)
    }
    let (end, times) = (record.grantEnds[grant], try signedIn.formTimes)
    let title = Message("End date")
    return FormPage(
      title: administrator.title(title),
      crumbs: administrator.crumbs, heading: title,
      summary: [
        Fact(Message("Administrator"), HTML.isolated(administrator.displayName)),
        Fact(Message("Role"), grant.place()),
        Fact(
          Message("Ends"),
          end.map(target.times.end) ?? Chip.off(Message("no end date"))),
      ],
      fields: Field.grantEnd(GrantAnswers.last(end, times), times, at: identity.clock.now()),
      hidden: answers.fields, button: Message("Save end date"), back: back)
  }

  func input(_ target: FormTarget<SignedIn>) throws -> (grant: Grant, end: Instant?) {
    let answers = GrantAnswers(target.form)
    guard let grant = answers.grant().grant else {
      throw target.elsewhere(ConsolePaths.administrator(target.object))
    }
    let (end, faults) = answers.end(try target.signedIn.formTimes)
    guard faults.isEmpty else { throw InvalidInput.fields(faults) }
    return (grant, end)
  }

  func perform(
    _ input: (grant: Grant, end: Instant?), _ target: FormTarget<SignedIn>
  ) async throws -> FormEnd {
    let outcome: ActionOutcome<Bool>
    do {
      outcome = try await identity.administrators.setEnd(
        of: input.grant, of: ID(target.object), to: input.end, target.request)
    } catch CallError.notFound {
      throw target.elsewhere(
        ConsolePaths.administrator(target.object),
        saying: Message("No changes made. They no longer have this role."))
    }
    let text =
      outcome.value
      ? input.end.map {
        Message("End date changed. The role ends on {end}.", ["end": target.times.endValue($0)])
      } ?? Message("End date removed.") : Message("No changes made.")
    return FormEnd(text, at: ConsolePaths.administrator(target.object), after: outcome)
  }

  func fault(_ error: ManagementError, _ target: FormTarget<SignedIn>) throws -> FieldError {
    switch error {
    case .lastOwner: FieldError(field: "last", text: GrantText.lastOwner)
    case .breakGlassAccount:
      FieldError(field: "last", text: GrantText.breakGlass)
    default: try error.fault(GrantAnswers(target.form))
    }
  }
}
