import JSON
import Testing
import Text

@testable import IdentityToolkitAPI

struct NamesTests {
  @Test(arguments: [
    ("adjacentIntervals", "adjacentIntervals", true),
    ("adjacent_intervals", "adjacentIntervals", true),
    ("adjacent_Intervals", "adjacentIntervals", false),
    ("adjacentintervals", "adjacentIntervals", false),
    ("adjacent_interval", "adjacentIntervals", false),
    ("adjacent_intervalss", "adjacentIntervals", false),
    ("email", "email", true), ("Email", "email", false), ("e_mail", "email", false),
    ("", "email", false), ("adjacent_", "adjacentIntervals", false),
    ("allow_password_signup", "allowPasswordSignup", true),
    ("allow_passwordSignup", "allowPasswordSignup", true),
  ])
  func `a name matches in camel case and snake case`(written: String, name: String, matches: Bool) {
    #expect(Names.match(UntrustedText(written), name) == matches)
  }

  @Test(arguments: [
    ("email", "email"), ("adjacentIntervals", "adjacent_intervals"), ("photoUrl", "photo_url"),
  ])
  func `camel case and snake case convert to each other`(camel: String, snake: String) {
    #expect(Names.snake(camel) == snake)
    #expect(Names.camel(snake) == camel)
    #expect(Names.camel(camel) == camel)
  }
}
