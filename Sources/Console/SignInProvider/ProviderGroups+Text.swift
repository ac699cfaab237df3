import Localization
import OpenIDConnect
import Templating

extension ProviderGroups {
  /// The first 50 groups as a list, or that there are none.
  var list: Markup {
    names.isEmpty
      ? Markup(escaping: Message("sign-in-provider.none"))
      : Markup(html: .value(.sequence(names.prefix(50).map { .value(.name(Formatted.short($0))) })))
  }
}
