import HTTP
import Identity
import Localization
import Templating

/// `S/enrollment-campaigns/{number}` of a draft: who gets a link and who doesn't, and the form that
/// starts the campaign, with a preview of its email.
struct NewCampaignPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<NewCampaignView>

  /// The name in the query of an address that shows the email, and starts nothing.
  static let preview = "preview"

  private var removals: BulkRemovals { identity.bulkRemovals }

  /// Creates a draft for those of another campaign who haven't enrolled, for all users without second
  /// factors that a list shows, or for selected users, and redirects to its preview.
  func create(_ context: PoolContext) async throws -> Response {
    let (pool, signedIn) = (context.pool, context.signedIn)
    let (author, session, query) = (signedIn.author, signedIn.session, signedIn.query)
    var (back, none) = (ConsolePaths.users(pool), Accounts.Filter.none.noMatch)
    do {
      let draft: Int64
      if let former = query.text("campaign"), signedIn.form["user"] == nil {
        back = ConsolePaths.campaign(pool, former)
        draft = try await removals.draft(
          resending: try await removals.job(former, context), in: pool, by: author, session)
      } else if let listing = UsersQuery.selected(by: query) {
        back = UsersQuery(query).with(Accounts.Filter.none).query(of: back)
        draft = try await removals.draft(campaignFor: listing, in: pool, by: author, session)
      } else {
        none = UserSelection.missing
        draft = try await removals.draft(
          signedIn.form.selectedUsers(of: pool), .campaign, in: pool, by: author, session)
      }
      return .redirect(to: ConsolePaths.campaign(pool, String(draft)))
    } catch let error as BulkError {
      let fault =
        switch error {
        case .nothingToDo: none
        case .tooLong: UserSelection.tooMany
        }
      return frames.leave(Flash(text: fault, isAlert: true), signedIn, renewed: nil, to: back)
    }
  }

  /// Starts a campaign, or requests approval for it; or shows the email with what was entered.
  func begin(_ context: PoolContext, _ id: String) async throws -> Response {
    let (signedIn, form) = (context.signedIn, context.signedIn.form)
    let job = try await removals.job(id, context)
    if form["days"] == nil, job.state == .draft {
      // An agent who is blocked asks without terms to be unblocked.
      let support = try await removals.eligibility(signedIn.session, on: job, in: context.pool)
        .support
      guard support.isHeld || support.actionsLeft == 0 else { return try await page(context, job) }
    }
    guard let terms = form["days"] == nil ? .usual : CampaignTerms(form) else {
      let count = form.trimmed("sentence").unicodeScalars.count
      guard count > CampaignTerms.longestSentence else { throw Refusal.unreadableForm }
      let text = Message(
        one: "Shorten the sentence to {count} character.",
        other: "Shorten the sentence to {count} characters.",
        ["count": .number(CampaignTerms.longestSentence)])
      return try await page(context, job, form, [FieldError(field: "sentence", text: text)])
    }
    guard signedIn.query[Self.preview] == nil else { return try await page(context, job, form) }
    do {
      let outcome = try await removals.begin(
        job.id, in: context.pool, number: "", terms: terms, ActionInput(form).request(signedIn))
      return frames.leave(
        Flash(text: BulkWords(job).begun(isWaiting: outcome.value.state == .waiting)), signedIn,
        renewed: outcome.renewed, to: ConsolePaths.campaign(context.pool, id))
    } catch let denial as ActionDenial {
      let faults = try ActionErrorText.faults(denial, signedIn.times, job.kind.permission)
      return try await page(context, job, form, faults)
    }
  }

  func page(
    _ context: PoolContext, _ job: BulkJob, _ typed: Form? = nil, _ errors: [FieldError] = []
  ) async throws -> Response {
    guard job.kind == .campaign, job.state == .draft, job.lines > 0 else {
      throw Refusal.notFound
    }
    let (pool, signedIn) = (context.pool, context.signedIn)
    let eligibility = try await removals.eligibility(signedIn.session, on: job, in: pool)
    let refusal = job.users > 0 ? Notice(eligibility.support, signedIn) : nil
    let terms = typed.flatMap { CampaignTerms($0) ?? CampaignTerms($0, sentence: "") } ?? .usual
    let preview = refusal == nil ? try await removals.preview(terms, of: job, in: pool) : nil
    if preview != nil { try await frames.record(1, shownIn: context) }
    // Without a form, there's no field for the error summary to link to.
    let errors = preview == nil ? [] : errors
    let frame = try await frames.frame(
      Message("New enrollment campaign · Users"), in: context,
      crumbs: Link.crumbsOfUsers(pool), errors: errors)
    let model = NewCampaignView(
      frame: FrameView(frame), context: context, job: job,
      counts: try await removals.counts(of: job),
      lines: signedIn.query["show"] == nil
        ? nil : try await BulkLines(removals, job, context, frames),
      refusal: refusal, typed: typed, terms: terms, preview: preview,
      asksForCode: eligibility.support.asksForCode, approval: eligibility.approval,
      carriesMail: identity.messages.carriesMail, now: identity.clock.now())
    return .html(view.render(model), errors: errors)
  }
}

extension CampaignTerms {
  /// The terms that a form has; nil for invalid ones.
  fileprivate init?(_ form: Form, sentence: String? = nil) {
    guard let days = Int(form.trimmed("days")) else { return nil }
    self.init(
      days: days, reminds: form.trimmed("reminders") == "on",
      sentence: sentence ?? form.trimmed("sentence"))
  }
}

struct NewCampaignView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let job: BulkJob
  let counts: [BulkResult?: Int]
  /// The users of the group that was chosen.
  let lines: BulkLines?
  let refusal: Notice?
  /// What was entered; nil if the page was just opened.
  let typed: Form?
  let terms: CampaignTerms
  /// The email; nil without the form.
  let preview: CampaignPreview?
  let asksForCode: Bool
  /// Why a second administrator has to approve it; nil if none has to.
  let approval: Approval.Cause?
  let carriesMail: Bool
  let now: Instant

  private var action: String { ConsolePaths.campaign(context.pool, String(job.id)) }

  /// Those who get a link, then the others by reason.
  private var groups: [CampaignGroup] {
    let results = [nil] + BulkResult.allCases.filter { counts[$0] != nil }
    return results.enumerated().map { index, result in
      let show = result?.rawValue ?? BulkLines.open
      return CampaignGroup(
        fill: ChartFill.results[index == 0 ? 0 : (index - 1) % 3 + 1], count: counts[result] ?? 0,
        link: Link(
          text: BulkText.name(result, of: job),
          href: (["show": show, NewCampaignPage.preview: "1"] as Form).query(of: action),
          isCurrent: lines?.refresh.tab == show))
    }
  }

  private var links: [Field] {
    let days = [1, 2, 3, 5, 7, 10, 14].map { days in
      Field.Option(
        value: String(days),
        label: Message(one: "{count} day", other: "{count} days", ["count": .number(days)]))
    }
    let fields: [Field] = [
      .menu(
        "days", Message("Valid for"),
        hint: Message("Single use. A new link ends the one before."), days,
        value: String(CampaignTerms.usualDays)),
      .menu(
        "reminders", Message("Reminders"),
        hint: Message("For those who haven’t enrolled. Each has a new link with the same end."),
        [
          Field.Option(value: "on", label: Message("After 2 days and before the end")),
          Field.Option(value: "off", label: Message("None")),
        ], value: "on"),
    ]
    return fields.map { $0.shown(typed, frame) }
  }

  private var sentence: Field {
    Field.area(
      "sentence", Message("Your sentence <span class=\"soft\">(optional)</span>"),
      hint: Message("The link and its end are added."), #" rows="2""#, detectsDirection: true
    ).shown(typed, frame)
  }

  /// What happens when, after the number of emails.
  private var dates: [Message] {
    func day(_ instant: Instant) -> Message.Value {
      Times.short(frame.times.calendarDay(of: instant))
    }
    let days = terms.reminders(from: now).map(day)
    let end = Message("links end on {day}", ["day": day(terms.end(from: now))])
    return switch days.count {
    case 0: [end]
    case 1: [Message("reminder on {day}", ["day": days[0]]), end]
    default: [Message("reminders on {day} and {last}", ["day": days[0], "last": days[1]]), end]
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .number("count") { $0.job.users },
    .number("all") { $0.job.lines },
    .markup("bar") { view in
      ShareBar.markup(view.groups.map { ($0.fill, $0.count) }, of: view.job.lines)
    },
    .list("groups") { $0.groups },
    .flag("isForNobody") { $0.job.users == 0 },
    .text("action") { $0.action },
    .text("update") { ([NewCampaignPage.preview: "1"] as Form).query(of: $0.action) },
    .text("back") { ConsolePaths.users($0.context.pool) },
    .optional(\.refusal),
    .flag("offers") { $0.preview != nil },
    .flag(\.carriesMail),
    .text("roles") { _ in Message.value(Permission.readMessages.roleNames) },
    .list("links") { $0.links },
    .object("sentence") { $0.sentence },
    .text("from") { $0.preview?.sender ?? $0.context.pool.projectName },
    .text("to") { $0.preview?.recipient },
    .text("subject") { $0.preview?.mail.subject },
    .text("body") { $0.preview?.mail.body },
    .text("waits") { $0.approval.map(ApprovalText.why) },
    .texts("dates") { $0.dates },
    .optional("codeField") { CodeField($0.asksForCode, $0.frame, action: $0.action) },
    .optional(\.lines),
  ]
}

/// The users of a draft who get a link, or who don't for one reason.
struct CampaignGroup: ViewModel {
  let fill: ChartFill
  let count: Int
  let link: Link

  static let keys: Keys<Self> = [
    .markup("swatch") { $0.fill.swatch },
    .text("number") { Message.value(.number($0.count)) },
    .object(\.link),
  ]
}
