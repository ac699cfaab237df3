import HTTP
import Identity
import Localization
import MailText
import Templating

/// `/administrators/{id}/grants/end`: changes when a role of an administrator ends.
struct GrantEndPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<GrantEndView>

  private var frames: Frames { actions.frames }

  func show(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    try await page(signedIn, id, GrantAnswers(signedIn.query), errors: [], isTyped: false)
  }

  func change(_ signedIn: SignedIn, _ id: String) async throws -> Response {
    let answers = GrantAnswers(signedIn.form)
    guard let grant = answers.grant().grant else {
      return .redirect(to: ConsolePaths.administrator(id))
    }
    let (end, faults) = answers.end(try signedIn.formTimes)
    guard faults.isEmpty else {
      let errors = faults + (try await actions.unmet(.grantRole, signedIn))
      return try await page(signedIn, id, answers, errors: errors, isTyped: true)
    }
    do {
      let outcome = try await identity.administrators.setEnd(
        of: grant, of: ID(id), to: end, actions.request(signedIn))
      let text =
        outcome.value
        ? end.map {
          Message("End date changed. The role ends on {end}.", ["end": signedIn.times.endValue($0)])
        }
          ?? Message("End date removed.")
        : Message("No changes made.")
      return actions.leave(text, signedIn, after: outcome, to: ConsolePaths.administrator(id))
    } catch ManagementError.notFound {
      frames.leave(Message("No changes made. They no longer have this role."), for: signedIn)
      return .redirect(to: ConsolePaths.administrator(id))
    } catch {
      let errors = try await actions.faults(error, .grantRole, signedIn) {
        (error: ManagementError) in
        switch error {
        case .lastOwner: FieldError(field: "last", text: GrantText.lastOwner)
        case .breakGlassAccount:
          FieldError(
            field: "last",
            text: Message(
              """
              This is the break-glass account. Turn on password sign-in first. To turn it off \
              again, choose another break-glass account.
              """))
        default: try error.fault(answers)
        }
      }
      return try await page(signedIn, id, answers, errors: errors, isTyped: true)
    }
  }

  private func page(
    _ signedIn: SignedIn, _ id: String, _ answers: GrantAnswers, errors: [FieldError],
    isTyped: Bool
  ) async throws -> Response {
    let record = try await AdministratorPage.record(id, identity)
    let administrator = record.administrator
    guard let grant = record.changeable(answers, by: signedIn) else {
      return .redirect(to: ConsolePaths.administrator(id))
    }
    var answers = answers
    let times = try signedIn.formTimes
    if !isTyped { answers.last = GrantAnswers.last(record.grantEnds[grant], times) }
    let title = Message("End date")
    let name = Message.Value.name(Formatted.short(administrator.displayName))
    var frame = await frames.frame(
      Message("{title} · {name} · Administrators", ["title": .message(title), "name": name]),
      for: signedIn)
    frame.errors = errors
    frame.crumbs = administrator.crumbs
    let framed = FrameView(frame)
    let model = GrantEndView(
      frame: framed, csrf: signedIn.session.csrfToken, administrator: administrator,
      grant: grant, end: record.grantEnds[grant], answers: answers, times: times,
      now: frames.clock.now(),
      fields: try await actions.fields(.grantRole, signedIn, framed))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct GrantEndView: ViewModel {
  let frame: FrameView
  let csrf: String
  let administrator: Administrator
  let grant: Grant
  let end: Instant?
  let answers: GrantAnswers
  /// In the time zone that the form names.
  let times: Times
  let now: Instant
  let fields: ActionFields

  private var facts: [Fact] {
    [
      Fact(Message("Administrator"), HTML.isolated(administrator.displayName)),
      Fact(Message("Role"), grant.place),
      Fact(
        Message("Ends"),
        end.map(frame.times.end) ?? Chip.off(Message("no end date"))),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { ConsolePaths.grantEnd($0.administrator.id.text) },
    .text("back") { ConsolePaths.administrator($0.administrator.id.text) },
    .list("facts") { $0.facts },
    .list("hidden") { $0.answers.fields },
    .object("until") { GrantEndField($0.answers, $0.frame, $0.times, at: $0.now) },
    .object("authorization") { $0.fields },
  ]
}
