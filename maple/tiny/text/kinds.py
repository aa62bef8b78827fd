"""Kinds of tool people really offer: names, descriptions, parameters, ways to ask."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """Alternatives are separated by bars; `{0}`, `{1}` in a request stand for the parameters.

    A parameter reads "names:type", with "?" where it may be left out.
    """

    names: str
    descriptions: str
    params: tuple[str, ...]
    requests: str


KINDS = (
    Kind(
        "get_weather|weather|get_current_weather|fetch_weather|weather_lookup|getWeather",
        "Get the weather of a city|Get the current weather for a location|Look up the weather"
        "|Returns the weather in a given city|Current weather|Get weather",
        ("city|location|place:city", "unit|units:celsius,fahrenheit?"),
        "What is the weather in {0}?|weather in {0}|What's the weather like in {0}?|Is it raining in"
        " {0}?|How warm is it in {0}?|Tell me the weather in {0} in {1}|Get the weather for {0}"
        "|How is the weather in {0} today?|What is the weather in {0} in {1}?",
    ),
    Kind(
        "get_time|current_time|get_local_time|time_in",
        "Get the time in a city|Get the current time|Tell the local time of a place",
        ("city|place|location|timezone:city",),
        "What time is it in {0}?|time in {0}|Tell me the time in {0}|What is the time in {0} now?",
    ),
    Kind(
        "send_email|send_mail|email|sendMail",
        "Send an email|Send an email to a person|Sends a mail to somebody",
        ("to|recipient|address:person", "body|text|message|subject:phrase"),
        "Send an email to {0} saying {1}|Email {0}: {1}|Write an email to {0} that says {1}"
        '|Please send {0} an email: "{1}"|Send a mail to {0} with the text {1}',
    ),
    Kind(
        "send_message|message|send_text|sms",
        "Send a message to a person|Send a text message|Message somebody",
        ("to|person|name|recipient:person", "text|message|content:phrase"),
        "Send a message to {0}: {1}|Tell {0} {1}|Message {0} that {1}|Text {0} {1}"
        '|Send "{1}" to {0}|Please message {0}: {1}',
    ),
    Kind(
        "calculate|calculator|evaluate|compute|math",
        "Calculate an expression|Evaluate a math expression|Does arithmetic|Calculator",
        ("expression|formula|input:sum",),
        "What is {0}?|Calculate {0}|Compute {0} with the tool|How much is {0}?|Evaluate {0}",
    ),
    Kind(
        "search|web_search|search_web|find|lookup",
        "Search the web|Search the internet for something|Find pages about a topic",
        ("query|q|text|topic:phrase", "limit|count|max_results:integer?"),
        "Search for {0}|Search the web for {0}|Find pages about {0}|Look up {0}|Google {0}"
        "|Search for {0} and show {1} results|Find {1} pages about {0}",
    ),
    Kind(
        "set_timer|start_timer|timer|countdown",
        "Set a timer|Start a timer|Starts a countdown timer",
        ("minutes|seconds|duration:integer",),
        "Set a timer for {0} minutes|Start a {0} minute timer|timer {0} minutes|Wake me in {0} minutes",
    ),
    Kind(
        "add_reminder|remind|create_reminder|set_reminder",
        "Add a reminder|Create a reminder|Remind the user of something",
        ("text|title|what:phrase", "time|when|date:code?"),
        "Remind me: {0}|Remind me of {0} at {1}|Add a reminder: {0}|Set a reminder for {1}: {0}",
    ),
    Kind(
        "translate|translate_text|translation",
        "Translate a text|Translate text into another language|Translates words",
        ("text|input|phrase:phrase", "language|target|to:language"),
        'Translate {0} to {1}|Translate "{0}" into {1}|How do you say {0} in {1}?|Say {0} in {1}',
    ),
    Kind(
        "convert_currency|exchange|currency|convert",
        "Convert money between currencies|Convert an amount to another currency",
        ("amount|value:integer", "from|source:word", "to|target:word"),
        "Convert {0} {1} to {2}|How much is {0} {1} in {2}?|Change {0} {1} into {2}",
    ),
    Kind(
        "play_song|play_music|play|music",
        "Play a song|Play music|Plays a song by name",
        ("song|title|name:phrase", "artist|singer:person?"),
        "Play {0}|Play {0} by {1}|Play the song {0}|I want to hear {0}|Put on {0} by {1}",
    ),
    Kind(
        "get_stock_price|stock_price|get_stock|quote",
        "Get the price of a stock|Get a stock price|Look up the stock price of a company",
        ("symbol|ticker|company:code",),
        "What is the stock price of {0}?|Price of {0} stock|How is {0} stock doing?|stock price {0}",
    ),
    Kind(
        "define_word|dictionary|get_definition|define",
        "Define a word|Look up a word in the dictionary|Get the meaning of a word",
        ("word|term:word",),
        "Define {0}|What does {0} mean?|What is the meaning of {0}?|Look up the word {0}",
    ),
    Kind(
        "turn_on_light|light_on|switch_light|lights",
        "Turn on a light|Turn on the light in a room|Switches the light on",
        ("room|place|location:word", "level|brightness:integer?"),
        "Turn on the light in the {0}|Light on in the {0}|Switch on the {0} light|Turn on the {0} light to {1}",
    ),
    Kind(
        "get_news|news|latest_news|headlines",
        "Get the news|Get news about a topic|Latest headlines on a topic",
        ("topic|subject|about:word",),
        "What is the news about {0}?|News about {0}|Show me the news on {0}|latest news on {0}",
    ),
    Kind(
        "book_flight|find_flight|search_flights|flight",
        "Book a flight|Find a flight between two cities|Search flights",
        ("from|origin|start:city", "to|destination|target:city", "date|day:code?"),
        "Book a flight from {0} to {1}|Find a flight from {0} to {1}|Fly from {0} to {1} on {2}"
        "|I need a flight from {0} to {1} on {2}|flights {0} to {1}",
    ),
    Kind(
        "get_user|find_user|user_info|lookup_customer",
        "Get a user|Look up a user by id|Find a customer by number",
        ("id|user_id|number:integer",),
        "Who is user {0}?|Look up user {0}|Find customer {0}|Get user {0}|Show me customer {0}",
    ),
    Kind(
        "add_task|create_todo|add_todo|new_task",
        "Add a task to the list|Create a to-do|Add a to-do item",
        ("title|task|text|name:phrase",),
        "Add a task: {0}|Put {0} on my list|Add {0} to my tasks|New to-do: {0}|Create a task {0}",
    ),
    Kind(
        "read_file|open_file|cat|get_file",
        "Read a file|Open a file|Returns what is in a file",
        ("path|file|name|filename:code",),
        "Read the file {0}|Open {0}|What is in the file {0}?|Show me the file {0}",
    ),
    Kind(
        "roll_dice|dice|random_number|roll",
        "Roll dice|Roll a number of dice|Throw some dice",
        ("count|number|n:integer",),
        "Roll {0} dice|Throw {0} dice|Please roll {0} dice for me",
    ),
)

# Only ever used for measuring.
UNSEEN_KINDS = (
    Kind(
        "reserve_table|table_reservation",
        "Reserve a table in a restaurant|Reserve a table",
        ("restaurant|venue:city", "guests|seats:integer"),
        "Reserve a table at {0} for {1}|I need a table at {0} for {1} guests|Table for {1} at {0}",
    ),
    Kind(
        "get_population|population",
        "Get the population of a country|Returns how many people live in a country",
        ("country|nation:city",),
        "What is the population of {0}?|How many people live in {0}?|Population of {0}",
    ),
    Kind(
        "track_parcel|parcel_status",
        "Track a parcel|Returns where a parcel is",
        ("parcel|tracking_code:code",),
        "Where is parcel {0}?|Track parcel {0}|Has my parcel {0} arrived?",
    ),
    Kind(
        "save_contact|new_contact",
        "Save a contact|Save a new contact with its phone number",
        ("contact|full_name:person", "phone|telephone:integer"),
        "Save the contact {0}, phone {1}|New contact: {0}, {1}|Save {0} with phone number {1}",
    ),
    Kind(
        "get_recipe|recipe_search",
        "Get a recipe|Get the recipe of a dish",
        ("dish|meal:phrase",),
        "Get the recipe of {0}|How do I cook {0}?|Recipe for {0} please",
    ),
    Kind(
        "unlock_door|door_unlock",
        "Unlock a door|Unlocks one of the doors",
        ("door|which:word",),
        "Unlock the {0} door|Please unlock the door {0}|Unlock door {0}",
    ),
    Kind(
        "get_distance|distance_between",
        "Get the distance between two places|Returns the distance from one place to another",
        ("start_point|place_a:city", "end_point|place_b:city"),
        "How far is it from {0} to {1}?|Distance from {0} to {1}|What is the distance from {0} to {1}?",
    ),
    Kind(
        "cancel_order|order_cancel",
        "Cancel an order|Cancels the order with this number",
        ("order_number|order:integer", "reason|why:phrase?"),
        "Cancel order {0}|Please cancel the order {0}|Cancel order {0} because of {1}",
    ),
)
